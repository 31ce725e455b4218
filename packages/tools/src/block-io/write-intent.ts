import type { Namespace } from '@gpunvme/host-driver'
import type { InputStream } from '../terminal/io.js'
import { checkInside, type ByteRange, type RangeFlags } from './byte-range.js'
import { ByteSource } from './byte-source.js'
import { PartialBlockError } from './partial-block.js'
import { refuseProtected } from './protected-data.js'
import { UnalignedStartError } from './unaligned-start.js'

/** What of a command line says what is written, and what may be lost by it. */
export interface IntentFlags extends RangeFlags {
  readonly pad?: 'zero'
  readonly overwrite?: readonly string[]
  readonly image?: string
}

/** What is to be written, and where. */
export interface WriteIntent {
  readonly source: ByteSource
  /** In whole blocks where the length is known; else up to the end of the namespace. */
  readonly range: ByteRange
}

/** Everything that can be known before the first block: so that most refusals leave nothing half done. */
export async function intend(
  namespace: Namespace,
  path: string,
  flags: IntentFlags,
  stdin: InputStream,
  signal: AbortSignal,
): Promise<WriteIntent> {
  const { blockBytes, capacityBytes } = namespace
  const { lba = 0, offset: offsetBytes = lba * blockBytes, overwrite = [], pad } = flags
  if (offsetBytes % blockBytes !== 0) throw new UnalignedStartError(offsetBytes, blockBytes)
  const source = ByteSource.open(path, wantedBytes(flags, blockBytes), stdin, signal)
  try {
    const { lengthBytes } = source
    const lastBytes = (lengthBytes ?? 0) % blockBytes
    if (lastBytes !== 0 && pad === undefined) throw new PartialBlockError(source.name, lastBytes, blockBytes)
    const roomBytes = Math.max(blockBytes, capacityBytes - offsetBytes)
    const wholeBytes = lengthBytes === undefined ? roomBytes : Math.ceil(lengthBytes / blockBytes) * blockBytes
    const range = checkInside(namespace, { offsetBytes, lengthBytes: wholeBytes })
    await refuseProtected(namespace, range, overwrite, flags.image !== undefined, signal)
    return { source, range }
  } catch (error) {
    source.close()
    throw error
  }
}

/** How much of the source; undefined for all of it. */
function wantedBytes({ blocks, length }: IntentFlags, blockBytes: number): number | undefined {
  if (length !== undefined) return length === 'all' ? undefined : length
  return blocks === undefined || blocks === 'all' ? undefined : blocks * blockBytes
}
