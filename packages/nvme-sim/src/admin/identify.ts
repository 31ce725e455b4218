import {
  ActiveNamespaceList,
  CNS,
  CSI,
  Identify,
  IDENTIFY_BYTES,
  IdentifyIndependentNamespace,
  IdentifyNamespace,
  IdentifyNvmController,
  STATUS,
} from '@gpunvme/nvme-spec'
import type { Ended, Result, ServedCommand } from '../controller/command.js'
import type { Device } from '../controller/device.js'
import type { SupportedCommands } from '../logs/supported.js'
import type { Namespace } from '../nvm/namespace.js'
import { sendData } from './admin-command.js'
import { identifyController } from './identify-controller.js'
import { uuid } from './uuid.js'

/** What Identify returns for one CNS: 4096 bytes, or why there are none. */
export type IdentifyAnswer = (command: ServedCommand, device: Device, supported: SupportedCommands) => DataView | Ended

/** The largest NSID that a list can begin after is FFFFFFFDh. */
const FIRST_NSID_WITHOUT_LIST = 0xffff_fffe

const answers: ReadonlyMap<number, IdentifyAnswer> = new Map<number, IdentifyAnswer>([
  [CNS.NAMESPACE, ofNamespace((namespace) => namespace.identify())],
  [CNS.CONTROLLER, ofController(identifyController)],
  [CNS.ACTIVE_NAMESPACE_LIST, activeNamespaces],
  [CNS.NAMESPACE_DESCRIPTOR_LIST, descriptorList],
  [CNS.COMMAND_SET_NAMESPACE, ofNvm(ofNamespace(empty))],
  [
    CNS.COMMAND_SET_CONTROLLER,
    // Of no command does it take less than MDTS allows.
    ofNvm(ofController(() => IdentifyNvmController.create({ VER: { MJR: 1, MNR: 2 } }).data)),
  ],
  [CNS.COMMAND_SET_ACTIVE_NAMESPACE_LIST, ofNvm(activeNamespaces)],
  [CNS.INDEPENDENT_NAMESPACE, ofNamespace(independent)],
])

/** Identify (Base 2.1 §5.1.13). */
export function identify(command: ServedCommand, device: Device, supported: SupportedCommands): Result {
  const answer = answers.get(Identify.view(command.data).CNS)
  const data = answer === undefined ? command.invalidField(40) : answer(command, device, supported)
  if (!(data instanceof DataView)) return data
  return sendData(command, device, new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
}

/** Data of an active namespace; zeroes of an inactive one (Base 2.1 §3.2.1.6). */
function ofNamespace(read: (namespace: Namespace) => DataView): IdentifyAnswer {
  return ({ sqe: { NSID } }, { namespaces }) => {
    const namespace = namespaces.get(NSID)
    if (namespace) return read(namespace)
    return namespaces.isValid(NSID) ? empty() : STATUS.INVALID_NAMESPACE_OR_FORMAT
  }
}

/** Data for which no NSID is used: one that is given is refused (Base 2.1 §4.1.1, Figure 92). */
function ofController(read: (device: Device, supported: SupportedCommands) => DataView): IdentifyAnswer {
  return (command, device, supported) => (command.sqe.NSID === 0 ? read(device, supported) : command.invalidField(4))
}

/** Data of an I/O command set, of which there is one here. */
function ofNvm(answer: IdentifyAnswer): IdentifyAnswer {
  return (command, device, supported) =>
    Identify.view(command.data).CSI === CSI.NVM ? answer(command, device, supported) : command.invalidField(47)
}

function activeNamespaces({ sqe }: ServedCommand, { namespaces }: Device): DataView | Ended {
  if (sqe.NSID >= FIRST_NSID_WITHOUT_LIST) return STATUS.INVALID_NAMESPACE_OR_FORMAT
  const NSID = new Uint32Array(1024)
  const above = namespaces.active.map(({ nsid }) => nsid).filter((nsid) => nsid > sqe.NSID)
  NSID.set(above.slice(0, NSID.length))
  return ActiveNamespaceList.create({ NSID }).data
}

function descriptorList(command: ServedCommand, { namespaces, profile }: Device): DataView | Ended {
  const { NSID } = command.sqe
  const namespace = namespaces.get(NSID)
  if (namespace) return descriptors(namespace, profile.identify.SN ?? '')
  return namespaces.isValid(NSID) ? command.invalidField(4) : STATUS.INVALID_NAMESPACE_OR_FORMAT
}

/** Namespace UUID (type 3h) and Command Set Identifier (type 4h): type, length, two reserved bytes, then the value. */
function descriptors({ nsid }: Namespace, serial: string): DataView {
  const list = new Uint8Array(IDENTIFY_BYTES)
  list.set([3, 16, 0, 0, ...uuid(serial, nsid), 4, 1, 0, 0, CSI.NVM])
  return new DataView(list.buffer)
}

/** What namespaces of every command set report (Base 2.1 §5.1.13.2.8). */
function independent(namespace: Namespace): DataView {
  const { NMIC, NSATTR } = IdentifyNamespace.view(namespace.identify())
  return IdentifyIndependentNamespace.create({ NMIC, NSATTR, NSTAT: { NRDY: 1 } }).data
}

function empty(): DataView {
  return new DataView(new ArrayBuffer(IDENTIFY_BYTES))
}
