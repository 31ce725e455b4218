import { ControllerList, NamespaceAttachment, STATUS } from '@gpunvme/nvme-spec'
import type { CommandsUnderWay, Ended, Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import type { Namespace } from '../nvm/namespace.js'
import { BROADCAST_NSID } from '../nvm/namespaces.js'
import { receiveData } from './admin-command.js'

/**
 * Namespace Attachment (Base 2.1 §5.1.20): attaches this controller to a namespace, or detaches it. The attachment
 * persists across resets. Namespace Is Private cannot occur, since there is no other controller.
 */
export function attachNamespace(command: ServedCommand, device: Device, commands: CommandsUnderWay): Result {
  // The host may use reserved values too.
  const SEL: number = NamespaceAttachment.view(command.data).SEL
  const { CONTROLLER_ATTACH, CONTROLLER_DETACH } = NamespaceAttachment.SEL
  if (SEL !== CONTROLLER_ATTACH && SEL !== CONTROLLER_DETACH) return command.invalidField(40)
  const { namespaces } = device
  const nsid = command.sqe.NSID
  const namespace = namespaces.getAllocated(nsid)
  if (namespace === undefined) {
    const isKnown = namespaces.isValid(nsid) || nsid === BROADCAST_NSID
    return isKnown ? STATUS.INVALID_FIELD_IN_COMMAND : STATUS.INVALID_NAMESPACE_OR_FORMAT
  }
  const fault = controllerListFault(command, device)
  if (fault) return fault
  return SEL === CONTROLLER_ATTACH ? attach(namespace, device) : detach(namespace, device, commands)
}

function attach(namespace: Namespace, device: Device): Ended {
  if (namespace.isAttached) return STATUS.NAMESPACE_ALREADY_ATTACHED
  device.namespaces.setAttached(namespace, true)
  device.namespaceChanged(namespace.nsid)
  return STATUS.SUCCESS
}

function detach(namespace: Namespace, device: Device, commands: CommandsUnderWay): Ended {
  if (!namespace.isAttached) return STATUS.NAMESPACE_NOT_ATTACHED
  commands.endAll(namespace)
  device.namespaces.setAttached(namespace, false)
  device.namespaceChanged(namespace.nsid)
  return STATUS.SUCCESS
}

/** The list must contain exactly this controller: no other one is in this NVM subsystem. */
function controllerListFault(command: ServedCommand, device: Device): Ended | undefined {
  const bytes = receiveData(command, device, ControllerList.bytes)
  if (!(bytes instanceof Uint8Array)) return bytes
  const { NUMCIDS, CNTLID } = ControllerList.view(new DataView(bytes.buffer))
  const isOurs = NUMCIDS === 1 && CNTLID[0] === (device.profile.identify.CNTLID ?? 0)
  return isOurs ? undefined : STATUS.CONTROLLER_LIST_INVALID
}
