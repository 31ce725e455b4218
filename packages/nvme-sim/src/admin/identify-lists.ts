import { ControllerList, Identify, STATUS } from '@gpunvme/nvme-spec'
import type { Ended, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import { BROADCAST_NSID } from '../nvm/namespaces.js'

/** The largest valid start of a list is NSID FFFFFFFDh. */
const FIRST_NSID_WITHOUT_LIST = 0xffff_fffe
const NSIDS = 1024

/** Returns the NSIDs above the given one. The namespaces are in increasing order. */
export function namespaceList(
  { sqe: { NSID } }: ServedCommand,
  namespaces: readonly { readonly nsid: number }[],
): DataView | Ended {
  if (NSID >= FIRST_NSID_WITHOUT_LIST) return STATUS.INVALID_NAMESPACE_OR_FORMAT
  const list = new DataView(new ArrayBuffer(NSIDS * 4))
  const above = namespaces.filter(({ nsid }) => nsid > NSID).slice(0, NSIDS)
  for (const [index, { nsid }] of above.entries()) list.setUint32(index * 4, nsid, true)
  return list
}

/** The controllers of the NVM subsystem: this one (Base 2.3 §5.2.13.2.12). */
export function controllers(command: ServedCommand, device: Device): DataView | Ended {
  return command.sqe.NSID === 0 ? controllerList(command, device, true) : command.invalidField(4)
}

/** The controllers that a namespace is attached to (Base 2.3 §5.2.13.2.11). */
export function attachedControllers(command: ServedCommand, device: Device): DataView | Ended {
  const { NSID } = command.sqe
  const { namespaces } = device
  const namespace = namespaces.getAllocated(NSID)
  if (namespace) return controllerList(command, device, namespace.isAttached)
  const isKnown = NSID === BROADCAST_NSID || namespaces.isValid(NSID)
  return isKnown ? command.invalidField(4) : STATUS.INVALID_NAMESPACE_OR_FORMAT
}

/** This controller, if it is in the list and its identifier is not below the given one. */
function controllerList({ data }: ServedCommand, { profile }: Device, isOneOfThem: boolean): DataView {
  const { CNTLID = 0 } = profile.identify
  if (!isOneOfThem || CNTLID < Identify.view(data).CNTID) return ControllerList.create().data
  const identifiers = new Uint16Array(2047)
  identifiers[0] = CNTLID
  return ControllerList.create({ NUMCIDS: 1, CNTLID: identifiers }).data
}
