import { findSignatures, ForeignDataError, type Namespace } from '@gpunvme/host-driver'
import { holdsImage, unknownDataError } from './unknown-data.js'
import type { ByteRange } from './byte-range.js'
import { firstByteSet } from './first-byte-set.js'
import { ToolsError } from '../command-line/tools-error.js'
import { MODELS, UNKNOWN_DATA } from '../command-line/write-options.js'

/**
 * Rejects writes that would destroy data not named by the user: data with a known signature anywhere on the namespace;
 * models; and in an image file, any nonzero bytes in the range.
 * @throws ForeignDataError, ToolsError (MODELS, UNKNOWN_DATA); errors of reading, the signal's reason.
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
  if (isImage && !overwrite.includes(MODELS))
    throw new ToolsError(
      'ERR_GPUNVME_MODELS',
      'privilege',
      `Refused to write to namespace ${namespace.nsid}: it has a model image by gpunvme pack`,
      {
        facts: ['a change would damage its models or its directory'],
        next: [
          `allow its loss with --overwrite ${MODELS}`,
          { command: ['models', 'ls', '--image', 'FILE'], note: 'which lists its models' },
        ],
      },
    )
  if (!isFile || isImage || found.length > 0 || overwrite.includes(UNKNOWN_DATA)) return
  const at = await firstByteSet(namespace, range, { signal })
  if (at !== undefined) throw unknownDataError(at, range)
}
