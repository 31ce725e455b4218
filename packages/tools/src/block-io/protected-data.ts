import { findSignatures, ForeignDataError, type Namespace } from '@gpunvme/host-driver'
import { holdsImage, UNKNOWN_DATA, UnknownDataError } from '../drive/unknown-data.js'
import type { ByteRange } from './byte-range.js'
import { firstByteSet } from './first-byte-set.js'
import { ToolsError } from '../command-line/tools-error.js'

/** What --overwrite calls it. */
const MODELS = 'models'

/**
 * Refuses to write where something would be lost that nobody has named: what the write guard knows by its signature,
 * anywhere on the namespace; models that pack wrote; and in a file, which may be anything, whatever is not zero where
 * it would be written.
 * @throws ForeignDataError, ModelImageError, UnknownDataError; what reading throws, the signal's reason.
 */
export async function refuseProtected(
  namespace: Namespace,
  range: ByteRange,
  overwrite: readonly string[],
  isFile: boolean,
  signal: AbortSignal,
): Promise<void> {
  const found = await findSignatures(namespace)
  const foreign = found.filter(({ name }) => !overwrite.includes(name))
  if (foreign.length > 0) throw new ForeignDataError(namespace.nsid, foreign)
  const isImage = await holdsImage(namespace)
  if (isImage && !overwrite.includes(MODELS)) throw new ModelImageError(namespace.nsid)
  if (!isFile || isImage || found.length > 0 || overwrite.includes(UNKNOWN_DATA)) return
  const at = await firstByteSet(namespace, range, { signal })
  if (at !== undefined) throw new UnknownDataError(at, range)
}

/** There are models on the namespace, whose checksums would not be right any more. Nothing was written. */
export class ModelImageError extends ToolsError {
  readonly code = 'ERR_GPUNVME_MODELS'
  readonly category = 'privilege'
  constructor(nsid: number) {
    super(`Refused to write to namespace ${nsid}: it holds a model image, as gpunvme pack makes it`, {
      facts: ['bytes that change in it are damage to its models, or to what finds them'],
      next: [`--overwrite ${MODELS}, if it may be lost`, { command: ['ls'], note: 'which shows the models on it' }],
    })
  }
}
