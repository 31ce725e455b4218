import {
  ControllerList,
  IdentifyController,
  NamespaceAttachment,
  NamespaceManagement,
  NamespaceManagementDw0,
  NamespaceToCreate,
} from '@gpunvme/nvme-spec'
import { sendChange } from '../commands/unknown-fate.js'
import { unsupportedCommand } from '../commands/errors.js'
import { anything, checkOptions, flag, integer, object } from '../check-options.js'
import { adminOptions, type AdminCommands, type AdminOptions } from '../admin/admin-commands.js'

/** Properties of a namespace to create. */
export interface NewNamespace {
  /** Size in logical blocks, all of them allocated. */
  readonly blocks: number
  /** Index of the LBA format, as listed by Identify Namespace with NSID FFFFFFFFh. Default: 0. */
  readonly lbaFormat?: number
  /** Whether several controllers may be attached. */
  readonly shared?: boolean
}

const checkBlocks = integer(1, Number.MAX_SAFE_INTEGER, 'a whole number of blocks, 1 or more')

const NO_NEWS = 'list the allocated namespaces (CNS 10h) before you repeat this'

/** @throws DriverError (UNSUPPORTED_COMMAND) */
export function checkManaged({ identity }: AdminCommands): void {
  const { OACS } = IdentifyController.view(identity.raw)
  if (IdentifyController.OACS.NMS.of(OACS) === 0) {
    throw unsupportedCommand('Namespace Management', 'OACS.NMS is 0')
  }
}

/** Sends Namespace Management (Create) once (Base 2.1 §5.1.21). Returns the NSID that the controller chose. */
export async function createNamespace(
  admin: AdminCommands,
  wanted: NewNamespace,
  options: AdminOptions = {},
): Promise<number> {
  object('createNamespace: wanted', wanted)
  checkOptions('createNamespace', wanted, { blocks: anything, lbaFormat: anything, shared: flag })
  checkBlocks('blocks', wanted.blocks)
  checkOptions('createNamespace', options, adminOptions)
  checkManaged(admin)
  const { blocks, lbaFormat = 0, shared = false } = wanted
  const { data } = NamespaceToCreate.create({
    NSZE: blocks,
    NCAP: blocks,
    FLBAS: { FIDXL: lbaFormat % 16, FIDXU: Math.floor(lbaFormat / 16) },
    NMIC: { SHRNS: shared ? 1 : 0 },
  })
  const values = { SEL: NamespaceManagement.SEL.CREATE }
  const dw0 = await sendChange(
    (run) => admin.once(run),
    'Namespace Management (Create)',
    (queue) => queue.executeWithData(NamespaceManagement, values, new Uint8Array(data.buffer), options),
    () => ({ facts: [`${blocks} blocks of LBA format ${lbaFormat}`], next: NO_NEWS }),
  )
  return NamespaceManagementDw0.NSID.of(dw0)
}

/** Sends Namespace Management (Delete) once (Base 2.1 §5.1.21). */
export async function deleteNamespace(admin: AdminCommands, nsid: number, options: AdminOptions): Promise<void> {
  const values = { SEL: NamespaceManagement.SEL.DELETE, NSID: nsid }
  await sendChange(
    (run) => admin.once(run),
    'Namespace Management (Delete)',
    (queue) => queue.execute(NamespaceManagement, values, options),
    () => ({ facts: [`namespace ${nsid}`], next: NO_NEWS }),
  )
}

/** Sends Namespace Attachment once (Base 2.1 §5.1.20). @param controllers default: this controller. */
export async function attachment(
  admin: AdminCommands,
  nsid: number,
  direction: 'attach' | 'detach',
  controllers = [IdentifyController.view(admin.identity.raw).CNTLID],
  options: AdminOptions = {},
): Promise<void> {
  checkManaged(admin)
  if (controllers.length === 0) throw new RangeError('controllers: expected at least one, got none')
  const CNTLID = Uint16Array.from({ length: 2047 }, (_, index) => controllers[index] ?? 0)
  const { data } = ControllerList.create({ NUMCIDS: controllers.length, CNTLID })
  const { CONTROLLER_ATTACH, CONTROLLER_DETACH } = NamespaceAttachment.SEL
  const values = { SEL: direction === 'attach' ? CONTROLLER_ATTACH : CONTROLLER_DETACH, NSID: nsid }
  await sendChange(
    (run) => admin.once(run),
    'Namespace Attachment',
    (queue) => queue.executeWithData(NamespaceAttachment, values, new Uint8Array(data.buffer), options),
    () => ({
      facts: [`namespace ${nsid}, ${direction}, controllers ${controllers.join(', ')}`],
      next: 'list the attached controllers (CNS 12h) before you repeat this',
    }),
  )
}
