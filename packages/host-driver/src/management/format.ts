import { CNS, countOf, FormatNvm, IdentifyController, IdentifyNamespace } from '@gpunvme/nvme-spec'
import { sendChange } from '../commands/unknown-fate.js'
import { unsupportedCommand } from '../commands/errors.js'
import { NS_PER_MS } from '../wait.js'
import { anything, checkOptions, object, oneOf, type Checks } from '../check-options.js'
import { adminOptions, type AdminCommands, type AdminOptions } from '../admin/admin-commands.js'
import { identify } from '../admin/identify.js'
import { listNamespaces } from '../admin/namespace-list.js'

/** Options of `Management.format`. */
export interface FormatOptions extends AdminOptions {
  /** Index of the LBA format in Identify Namespace. */
  readonly lbaFormat: number
  /** Erases the media, by overwriting the data or by discarding the encryption key. Default: no erase. */
  readonly secureErase?: 'user-data' | 'cryptographic'
}

const formatOptions: Checks<FormatOptions> = {
  lbaFormat: anything,
  secureErase: oneOf('user-data', 'cryptographic'),
  ...adminOptions,
}

/** Formatting may take minutes; a reset in the meantime gains nothing. */
export const FORMAT_TIMEOUT_NS = 600_000 * NS_PER_MS

/** Lists the namespaces that a Format of this one may affect, itself included (Base 2.3 §5.2.10, Figure 192). */
export async function reachOfFormat(
  admin: AdminCommands,
  nsid: number,
  { secureErase }: Pick<FormatOptions, 'secureErase'>,
  attached: readonly number[],
): Promise<readonly number[]> {
  const { FNA: raw } = IdentifyController.view(admin.identity.raw)
  const { FNS, SENS } = IdentifyController.FNA
  const reachesAll = (secureErase === undefined ? FNS : SENS).of(raw) === 1
  return reachesAll ? allNamespaces(admin, attached) : [nsid]
}

/**
 * Lists allocated namespaces; lists attached namespaces if the controller does not support listing allocated ones.
 * @throws DriverError (NAMESPACE_LIST)
 */
export async function allNamespaces(admin: AdminCommands, attached: readonly number[]): Promise<readonly number[]> {
  const { raw } = admin.identity
  if (IdentifyController.OACS.NMS.of(IdentifyController.view(raw).OACS) === 0) return attached
  return listNamespaces(raw, (nsid) => identify(admin, CNS.ALLOCATED_NAMESPACE_LIST, { nsid }))
}

/**
 * Checks a format request.
 * @throws DriverError (UNSUPPORTED_COMMAND); RangeError for a format that the namespace does not list.
 */
export function checkFormat({ identity }: AdminCommands, namespace: DataView, options: FormatOptions): void {
  object('format: options', options)
  checkOptions('format', options, formatOptions)
  const { lbaFormat, secureErase } = options
  const { OACS, FNA } = IdentifyController.view(identity.raw)
  if (IdentifyController.OACS.FNVMS.of(OACS) === 0) throw unsupportedCommand('Format NVM', 'OACS.FNVMS is 0')
  if (secureErase === 'cryptographic' && IdentifyController.FNA.CRYES.of(FNA) === 0) {
    throw unsupportedCommand('Format NVM with Cryptographic Erase', 'FNA.CRYES is 0')
  }
  const { NLBAF, NULBAF, LBAF } = IdentifyNamespace.view(namespace)
  const listed = Array.from(LBAF.subarray(0, countOf(NLBAF) + NULBAF).entries()).filter(
    ([, format]) => IdentifyNamespace.LBAF.LBADS.of(format) !== 0,
  )
  if (listed.some(([index]) => index === lbaFormat)) return
  const known = listed.map(
    ([index, format]) =>
      `${index} (${2 ** IdentifyNamespace.LBAF.LBADS.of(format)} + ${IdentifyNamespace.LBAF.MS.of(format)} bytes)`,
  )
  throw new RangeError(`lbaFormat: expected one of ${known.join(', ')}, got ${lbaFormat}`)
}

/** Sends Format NVM once (Base 2.1 §5.1.10). @throws CommandError; DriverError (UNKNOWN_FATE). */
export async function sendFormat(admin: AdminCommands, nsid: number, options: FormatOptions): Promise<void> {
  const { lbaFormat, secureErase, timeoutNs = FORMAT_TIMEOUT_NS } = options
  const { NONE, USER_DATA_ERASE, CRYPTOGRAPHIC_ERASE } = FormatNvm.SES
  const erase = { 'user-data': USER_DATA_ERASE, cryptographic: CRYPTOGRAPHIC_ERASE }
  const SES = secureErase === undefined ? NONE : erase[secureErase]
  const values = { NSID: nsid, LBAFL: lbaFormat % 16, LBAFU: Math.floor(lbaFormat / 16), SES }
  await sendChange(
    (run) => admin.once(run),
    'Format NVM',
    (queue) => queue.execute(FormatNvm, values, { timeoutNs }),
    () => ({
      facts: [`namespace ${nsid}: its data may be lost, and its format may be the old or the new one`],
      next: 'check the current format of the namespace, then format it again',
    }),
  )
}
