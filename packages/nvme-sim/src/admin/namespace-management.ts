import {
  lbaFormatIndex,
  NamespaceManagement,
  NamespaceManagementDw0,
  NamespaceToCreate,
  STATUS,
  type StatusCode,
} from '@gpunvme/nvme-spec'
import type { CommandsUnderWay, Ended, Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { lbaFormats } from '../nvm/lba-format.js'
import type { Namespace } from '../nvm/namespace.js'
import { BROADCAST_NSID } from '../nvm/namespaces.js'
import { receiveData } from './admin-command.js'

/**
 * Namespace Management (Base 2.1 §5.1.21): creates or deletes a namespace. Created namespaces are in memory. A
 * namespace whose media was given, such as a file, cannot be deleted: its capacity would be reused as memory, and the
 * file would no longer hold the drive's data. Deleting it fails with an invalid NSID, since no other status fits.
 */
export function manageNamespace(command: ServedCommand, device: Device, commands: CommandsUnderWay): Result {
  // The host may use reserved values too.
  const SEL: number = NamespaceManagement.view(command.data).SEL
  if (SEL === NamespaceManagement.SEL.CREATE) return create(command, device)
  if (SEL === NamespaceManagement.SEL.DELETE) return deleteNamespaces(command, device, commands)
  return command.invalidField(40)
}

function create(command: ServedCommand, device: Device): Ended {
  const { namespaces } = device
  const { CSI } = NamespaceManagement.view(command.data)
  // The controller chooses the NSID (Base 2.1 §5.1.21).
  if (command.sqe.NSID !== 0) return command.invalidField(4)
  if (CSI !== 0) return STATUS.I_O_COMMAND_SET_NOT_SUPPORTED
  const bytes = receiveData(command, device, NamespaceToCreate.bytes)
  if (!(bytes instanceof Uint8Array)) return bytes
  const wanted = NamespaceToCreate.view(new DataView(bytes.buffer))
  const { NSZE, FLBAS, NMIC } = wanted
  const fault = mistakeIn(wanted)
  if (fault) return fault
  const { blockBytes, metadataBytes } = lbaFormats[lbaFormatIndex(FLBAS, lbaFormats.length)]!
  const capacityBytes = NSZE * (blockBytes + metadataBytes)
  if (capacityBytes > namespaces.unallocatedBytes) return STATUS.NAMESPACE_INSUFFICIENT_CAPACITY
  const nsid = namespaces.freeNsid
  if (nsid === undefined) return STATUS.NAMESPACE_IDENTIFIER_UNAVAILABLE
  const extendedLba = NamespaceToCreate.FLBAS.MTELBA.of(FLBAS) === 1
  const isShared = NamespaceToCreate.NMIC.SHRNS.of(NMIC) === 1
  namespaces.create({ nsid, blockBytes, metadataBytes, extendedLba, capacityBytes }, isShared)
  command.dw0 = NamespaceManagementDw0.encode({ NSID: nsid })
  return STATUS.SUCCESS
}

/** Returns what is wrong with the host specified fields (NVM 1.2 §4.1.6). */
function mistakeIn(wanted: ReturnType<typeof NamespaceToCreate.view>): StatusCode | undefined {
  const { NSZE, NCAP, FLBAS, DPS, ANAGRPID, NVMSETID, ENDGID } = wanted
  if (lbaFormats[lbaFormatIndex(FLBAS, lbaFormats.length)] === undefined) return STATUS.INVALID_FORMAT
  // No format supports protection information.
  if (NamespaceToCreate.DPS.PIT.of(DPS) !== NamespaceToCreate.DPS.PIT.NONE) return STATUS.INVALID_FORMAT
  // There are no ANA groups, NVM Sets or Endurance Groups to select.
  if (ANAGRPID !== 0) return STATUS.ANA_GROUP_IDENTIFIER_INVALID
  if (NVMSETID !== 0 || ENDGID !== 0) return STATUS.INVALID_FIELD_IN_COMMAND
  if (NSZE === 0 || NCAP > NSZE) return STATUS.INVALID_FIELD_IN_COMMAND
  return NCAP < NSZE ? STATUS.THIN_PROVISIONING_NOT_SUPPORTED : undefined
}

function deleteNamespaces(command: ServedCommand, device: Device, commands: CommandsUnderWay): Ended {
  const { namespaces } = device
  const nsid = command.sqe.NSID
  const targets = namespaces.allocated.filter((each) => nsid === BROADCAST_NSID || each.nsid === nsid)
  if (targets.length === 0 && nsid !== BROADCAST_NSID) {
    return namespaces.isValid(nsid) ? STATUS.INVALID_FIELD_IN_COMMAND : STATUS.INVALID_NAMESPACE_OR_FORMAT
  }
  if (targets.some(({ isWriteProtected }) => isWriteProtected)) return STATUS.NAMESPACE_IS_WRITE_PROTECTED
  const given = targets.find(({ isMediaGiven }) => isMediaGiven)
  if (given) {
    device.diagnostics.report(
      'simulator-limit',
      `host deletes namespace ${given.nsid}, whose media was given in the options: it cannot be deleted`,
    )
    return command.invalidField(4)
  }
  for (const namespace of targets) remove(namespace, device, commands)
  return STATUS.SUCCESS
}

function remove(namespace: Namespace, device: Device, commands: CommandsUnderWay): void {
  const wasAttached = namespace.isAttached
  commands.endAll(namespace)
  device.namespaces.delete(namespace)
  device.features.forgetNamespace(namespace.nsid)
  if (wasAttached) device.namespaceChanged(namespace.nsid, true)
}
