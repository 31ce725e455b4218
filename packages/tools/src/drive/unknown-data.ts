import { findSignatures, SIGNATURE_REACH_BYTES, type Namespace } from '@gpunvme/host-driver'
import { ImageNotFoundError, openImage } from '@gpunvme/layer-loader'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'

/** What --overwrite calls it. */
export const UNKNOWN_DATA = 'unknown data'

/** How much is looked at in one go. */
const STEP_BYTES = 4 * 1024 * 1024

/**
 * A file may be anything, a thesis or a photograph, where a drive that somebody named by its serial number is a drive.
 * So a file that is neither empty nor an image of ours is only written to by leave.
 * @param endBytes where the new image will end: what lies before it, and the end of the file, will be overwritten.
 * @throws UnknownDataError. What the write guard knows by its signature is left to it, since it can say what it is.
 */
export async function refuseUnknownData(
  namespace: Namespace,
  overwrite: readonly string[],
  endBytes: number,
): Promise<void> {
  if (overwrite.includes(UNKNOWN_DATA) || (await holdsImage(namespace))) return
  if ((await findSignatures(namespace)).length > 0) return
  const { capacityBytes } = namespace
  const tailBytes = Math.max(0, capacityBytes - SIGNATURE_REACH_BYTES)
  const at =
    (await firstByteSet(namespace, 0, Math.min(endBytes, capacityBytes))) ??
    (await firstByteSet(namespace, tailBytes, capacityBytes))
  if (at !== undefined) throw new UnknownDataError(at)
}

/** Where the first byte is that is not zero. */
async function firstByteSet(namespace: Namespace, fromBytes: number, toBytes: number): Promise<number | undefined> {
  for (let at = fromBytes; at < toBytes; at += STEP_BYTES) {
    const index = (await namespace.readBytes(at, Math.min(STEP_BYTES, toBytes - at))).findIndex((byte) => byte !== 0)
    if (index >= 0) return at + index
  }
  return undefined
}

/** Whether there is an image, sound or not. */
export async function holdsImage(namespace: Namespace): Promise<boolean> {
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
  constructor(at: number) {
    super('Refused to overwrite the image file: it is neither empty nor a model image', {
      facts: [`byte ${at} is not zero, would be overwritten, and is of no known format`],
      next: `--overwrite '${UNKNOWN_DATA}', if it may be lost; or name another file`,
    })
  }
}
