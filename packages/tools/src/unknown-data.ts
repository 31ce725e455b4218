import { findSignatures, type Namespace } from '@gpunvme/host-driver'
import { ImageNotFoundError, openImage } from '@gpunvme/layer-loader'
import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** What --overwrite calls it. */
const UNKNOWN_DATA = 'unknown data'

/** What packing begins by clearing. */
const HEAD_BYTES = 2 * 1024 * 1024

/**
 * A file may be anything, a thesis or a photograph, where a drive that somebody named by its serial number is a drive.
 * So a file that is neither empty nor an image of ours is only written to by leave.
 * @throws UnknownDataError. What the write guard knows by its signature is left to it, since it can say what it is.
 */
export async function refuseUnknownData(namespace: Namespace, overwrite: readonly string[]): Promise<void> {
  if (overwrite.includes(UNKNOWN_DATA) || (await holdsImage(namespace))) return
  const head = await namespace.readBytes(0, Math.min(HEAD_BYTES, namespace.capacityBytes))
  if (head.every((byte) => byte === 0) || (await findSignatures(namespace)).length > 0) return
  throw new UnknownDataError()
}

/** Whether there is an image, sound or not. */
async function holdsImage(namespace: Namespace): Promise<boolean> {
  try {
    await openImage(namespace)
    return true
  } catch (error) {
    if (error instanceof GpuNvmeError) return !(error instanceof ImageNotFoundError)
    throw error
  }
}

/** The file has contents that nobody can name. Nothing was written. */
export class UnknownDataError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNKNOWN_DATA'
  readonly category = 'privilege'
  constructor() {
    super('Refused to overwrite the image file: it is neither empty nor a model image', {
      facts: ['its first 2 MiB are not zero, and no known format was found'],
      next: `--overwrite '${UNKNOWN_DATA}', if it may be lost; or name another file`,
    })
  }
}
