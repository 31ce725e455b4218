import type { Namespace } from '@gpunvme/host-driver'
import type { InputStream } from '../terminal/io.js'
import { checkInside, type ByteRange, type RangeFlags } from './byte-range.js'
import { ByteSource } from './byte-source.js'
import { partialBlockError } from './partial-block.js'
import { refuseProtected } from './protected-data.js'
import { ToolsError } from '../command-line/tools-error.js'

/** Flags that determine what is written, and what may be lost. */
export interface IntentFlags extends RangeFlags {
  readonly pad?: 'zero'
  readonly overwrite?: readonly string[]
  readonly image?: string
}

/** Source and range of a write. */
export interface WriteIntent {
  readonly source: ByteSource
  /** Whole blocks if the length is known; otherwise up to the end of the namespace. */
  readonly range: ByteRange
}

/**
 * Checks everything that can be known before the first block is written, so that most errors leave nothing incomplete.
 */
export async function intend(
  namespace: Namespace,
  path: string,
  flags: IntentFlags,
  stdin: InputStream,
  signal: AbortSignal,
): Promise<WriteIntent> {
  const { blockBytes, capacityBytes } = namespace
  const { lba = 0, offset: offsetBytes = lba * blockBytes, overwrite = [], pad } = flags
  if (offsetBytes % blockBytes !== 0) throw unalignedStartError(offsetBytes, blockBytes)
  const source = ByteSource.open(path, wantedBytes(flags, blockBytes), stdin, signal)
  try {
    const { lengthBytes } = source
    const lastBytes = (lengthBytes ?? 0) % blockBytes
    if (lastBytes !== 0 && pad === undefined) throw partialBlockError(source.name, lastBytes, blockBytes)
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

/** Returns the number of bytes to use of the source; undefined for all. */
function wantedBytes({ blocks, length }: IntentFlags, blockBytes: number): number | undefined {
  if (length !== undefined) return length === 'all' ? undefined : length
  return blocks === undefined || blocks === 'all' ? undefined : blocks * blockBytes
}

/** Error of a write that starts inside a block, whose beginning would be lost. */
function unalignedStartError(offsetBytes: number, blockBytes: number): ToolsError {
  const before = offsetBytes - (offsetBytes % blockBytes)
  return new ToolsError(
    'ERR_GPUNVME_UNALIGNED_START',
    'usage',
    `Byte ${offsetBytes} is not the start of a block of ${blockBytes} bytes`,
    {
      next: `use --offset ${before} or --offset ${before + blockBytes}`,
    },
  )
}
