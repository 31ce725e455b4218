import { findSignatures, type Namespace } from '@gpunvme/host-driver'
import { hasCode, openImage } from '@gpunvme/layer-loader'
import type { Extent } from '@gpunvme/layer-loader/image'
import type { Readable } from '@gpunvme/layer-loader/store'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { firstByteSet, type ScanOptions } from './first-byte-set.js'
import { formatBytes } from '../terminal/units.js'
import { ToolsError } from '../command-line/tools-error.js'
import { UNKNOWN_DATA } from '../command-line/write-options.js'

/**
 * Rejects overwriting data of unknown format: any nonzero byte in ranges of a file or drive that the existing image
 * never wrote. Drives are scanned too, since a file system may be recoverable even without its superblock.
 * @param runs ranges that would be overwritten, without bytes that the image wrote.
 * @throws ToolsError (UNKNOWN_DATA). The write guard rejects data with a signature, unless `overwrite` names it.
 */
export async function refuseUnknownData(
  namespace: Namespace,
  runs: readonly Extent[],
  overwrite: readonly string[],
  options: ScanOptions = {},
): Promise<void> {
  if (overwrite.includes(UNKNOWN_DATA)) return
  const found = await findSignatures(namespace)
  if (found.some(({ name }) => !overwrite.includes(name))) return
  // Without an image, the data belong to the format that the user has named.
  if (found.length > 0 && !(await holdsImage(namespace))) return
  await refuseNonzero(namespace, runs, overwrite, options)
}

/** Like `refuseUnknownData`, regardless of signatures. */
export async function refuseNonzero(
  target: Readable,
  runs: readonly Extent[],
  overwrite: readonly string[],
  { signal, onProgress }: ScanOptions = {},
): Promise<void> {
  if (overwrite.includes(UNKNOWN_DATA)) return
  let doneBytes = 0
  for (const run of runs) {
    const before = doneBytes
    const at = await firstByteSet(target, run, {
      ...(signal && { signal }),
      onProgress: (bytes) => onProgress?.(before + bytes),
    })
    if (at !== undefined) throw unknownDataError(at, run)
    doneBytes += run.lengthBytes
  }
}

/** Returns whether there is an image, valid or not. */
export async function holdsImage(target: Readable): Promise<boolean> {
  try {
    await openImage(target)
    return true
  } catch (error) {
    if (error instanceof GpuNvmeError) return !hasCode(error, 'ERR_GPUNVME_NO_IMAGE')
    throw error
  }
}

/** Error of overwriting data of unknown format. Nothing was written. */
export function unknownDataError(at: number, { offsetBytes, lengthBytes }: Extent): ToolsError {
  const endBytes = offsetBytes + lengthBytes
  return new ToolsError('ERR_GPUNVME_UNKNOWN_DATA', 'privilege', 'Refused to overwrite data of unknown format', {
    facts: [
      `byte ${at} is nonzero and not part of a model image`,
      `would be overwritten: bytes ${offsetBytes} to ${endBytes - 1} (${formatBytes(lengthBytes)})`,
    ],
    next: `allow its loss with --overwrite '${UNKNOWN_DATA}', or use another file or drive`,
  })
}
