import {
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
import { BROADCAST_NSID } from '../nvm/namespaces.js'
import type { SupportedCommands } from '../logs/supported.js'
import { namespaceCapabilities, type Namespace } from '../nvm/namespace.js'
import { sendData } from './admin-command.js'
import { identifyController } from './identify-controller.js'
import { attachedControllers, controllers, namespaceList } from './identify-lists.js'
import { uuid } from './uuid.js'

/** Result of Identify for one CNS: 4096 bytes, or the status of the failure. */
type IdentifyAnswer = (command: ServedCommand, device: Device, supported: SupportedCommands) => DataView | Ended

const answers: ReadonlyMap<number, IdentifyAnswer> = new Map<number, IdentifyAnswer>([
  [CNS.NAMESPACE, ofNamespace((namespace) => namespace.identify(), namespaceCapabilities)],
  [CNS.CONTROLLER, ofController(identifyController)],
  [CNS.ACTIVE_NAMESPACE_LIST, (command, { namespaces }) => namespaceList(command, namespaces.active)],
  [CNS.NAMESPACE_DESCRIPTOR_LIST, descriptorList],
  // No format has protection information, and no granularity is preferred.
  [CNS.COMMAND_SET_NAMESPACE, ofNvm(ofNamespace(empty, empty))],
  [
    CNS.COMMAND_SET_CONTROLLER,
    // No command has a limit below MDTS.
    ofNvm(ofController(() => IdentifyNvmController.create({ VER: { MJR: 1, MNR: 2 } }).data)),
  ],
  [
    CNS.COMMAND_SET_ACTIVE_NAMESPACE_LIST,
    ofNvm((command, { namespaces }) => namespaceList(command, namespaces.active)),
  ],
  [CNS.INDEPENDENT_NAMESPACE, ofNamespace(independent, empty)],
  [CNS.ALLOCATED_NAMESPACE_LIST, (command, { namespaces }) => namespaceList(command, namespaces.allocated)],
  [CNS.ALLOCATED_NAMESPACE, allocatedNamespace],
  [CNS.ATTACHED_CONTROLLER_LIST, attachedControllers],
  [CNS.CONTROLLER_LIST, controllers],
])

/** Identify (Base 2.1 §5.1.13). */
export function identify(command: ServedCommand, device: Device, supported: SupportedCommands): Result {
  const answer = answers.get(Identify.view(command.data).CNS)
  const data = answer === undefined ? command.invalidField(40) : answer(command, device, supported)
  if (!(data instanceof DataView)) return data
  return sendData(command, device, new Uint8Array(data.buffer, data.byteOffset, data.byteLength))
}

/**
 * Data of an active namespace; zeroes for an inactive one (Base 2.1 §3.2.1.6); for NSID FFFFFFFFh the common
 * capabilities of all namespaces, as required with Namespace Management (Base 2.3 §5.2.13.2.5).
 */
function ofNamespace(read: (namespace: Namespace) => DataView, common: () => DataView): IdentifyAnswer {
  return ({ sqe: { NSID } }, { namespaces }) => {
    if (NSID === BROADCAST_NSID) return common()
    const namespace = namespaces.get(NSID)
    if (namespace) return read(namespace)
    return namespaces.isValid(NSID) ? empty() : STATUS.INVALID_NAMESPACE_OR_FORMAT
  }
}

/** Data that use no NSID: one that is given is rejected (Base 2.1 §4.1.1, Figure 92). */
function ofController(read: (device: Device, supported: SupportedCommands) => DataView): IdentifyAnswer {
  return (command, device, supported) => (command.sqe.NSID === 0 ? read(device, supported) : command.invalidField(4))
}

/** Data of an I/O command set; only the NVM Command Set exists. */
function ofNvm(answer: IdentifyAnswer): IdentifyAnswer {
  return (command, device, supported) =>
    Identify.view(command.data).CSI === CSI.NVM ? answer(command, device, supported) : command.invalidField(47)
}

/** Data of an allocated namespace, attached or not; otherwise zeroes. */
function allocatedNamespace({ sqe: { NSID } }: ServedCommand, { namespaces }: Device): DataView | Ended {
  const namespace = namespaces.getAllocated(NSID)
  if (namespace) return namespace.identify()
  return namespaces.isValid(NSID) ? empty() : STATUS.INVALID_NAMESPACE_OR_FORMAT
}

function descriptorList(command: ServedCommand, { namespaces, profile }: Device): DataView | Ended {
  const { NSID } = command.sqe
  const namespace = namespaces.get(NSID)
  if (namespace) return descriptors(namespace, profile.identify.SN ?? '')
  return namespaces.isValid(NSID) ? command.invalidField(4) : STATUS.INVALID_NAMESPACE_OR_FORMAT
}

/** EUI64 (type 1h) and NGUID (type 2h) if given, UUID (3h) and Command Set Identifier (4h). */
function descriptors({ nsid, generation, eui64, nguid }: Namespace, serial: string): DataView {
  const list = new Uint8Array(IDENTIFY_BYTES)
  let at = 0
  const identifiers = [eui64, nguid, uuid(serial, nsid, generation), [CSI.NVM]]
  for (const [index, identifier] of identifiers.entries()) {
    if (identifier.length === 0) continue
    list.set([index + 1, identifier.length, 0, 0, ...identifier], at)
    at += 4 + identifier.length
  }
  return new DataView(list.buffer)
}

/** Data common to namespaces of all command sets (Base 2.1 §5.1.13.2.8). */
function independent(namespace: Namespace): DataView {
  const { NMIC, NSATTR } = IdentifyNamespace.view(namespace.identify())
  return IdentifyIndependentNamespace.create({ NMIC, NSATTR, NSTAT: { NRDY: 1 } }).data
}

function empty(): DataView {
  return new DataView(new ArrayBuffer(IDENTIFY_BYTES))
}
