import {
  ActiveNamespaceList,
  CNS,
  IDENTIFY_BYTES,
  IdentifyController,
  STATUS,
  zeroBased,
  type StatusCode,
} from '@gpunvme/nvme-spec'
import { ASYNC_EVENT_REQUESTS } from './events.js'
import type { Namespace, Namespaces } from '../nvm/namespace.js'
import type { DriveProfile } from '../profiles/profile.js'

/** The answer to Identify: 4096 bytes, or why there are none (Base 2.1 §5.1.13). */
export function identify(
  cns: number,
  nsid: number,
  profile: DriveProfile,
  namespaces: Namespaces,
): DataView | StatusCode {
  const namespace = namespaces.get(nsid)
  switch (cns) {
    case CNS.CONTROLLER:
      // This CNS uses no NSID, and one that is given is refused (Base 2.1 §4.1.1, Figure 92).
      return nsid === 0 ? identifyController(profile, namespaces) : STATUS.INVALID_FIELD_IN_COMMAND
    case CNS.NAMESPACE:
      if (namespace) return namespace.identify()
      // Of an inactive namespace every byte is zero (Base 2.1 §3.2.1.6).
      return namespaces.isValid(nsid) ? empty() : STATUS.INVALID_NAMESPACE_OR_FORMAT
    case CNS.ACTIVE_NAMESPACE_LIST:
      return nsid >= 0xffff_fffe ? STATUS.INVALID_NAMESPACE_OR_FORMAT : activeList(nsid, namespaces)
    case CNS.NAMESPACE_DESCRIPTOR_LIST:
      if (namespace) return descriptors(namespace, profile)
      return namespaces.isValid(nsid) ? STATUS.INVALID_FIELD_IN_COMMAND : STATUS.INVALID_NAMESPACE_OR_FORMAT
    default:
      return STATUS.INVALID_FIELD_IN_COMMAND
  }
}

function identifyController({ VS, identify: own }: DriveProfile, { NN }: Namespaces): DataView {
  return IdentifyController.create({
    VER: VS,
    CNTRLTYPE: IdentifyController.CNTRLTYPE.IO,
    ACL: zeroBased(4),
    AERL: zeroBased(ASYNC_EVENT_REQUESTS),
    FRMW: 0b011, // one firmware slot, read-only
    SQES: 0x66, // entries of 2 ^ 6 bytes, no others
    CQES: 0x44, // entries of 2 ^ 4 bytes, no others
    NN,
    VWC: 0b111, // a cache, and Flush takes the broadcast NSID
    SUBNQN: `nqn.2014-08.org.nvmexpress:uuid:${uuidText(uuid(own.SN ?? '', 0))}`,
    ...own,
  }).data
}

function activeList(after: number, { active }: Namespaces): DataView {
  const NSID = new Uint32Array(1024)
  const above = active.map(({ nsid }) => nsid).filter((nsid) => nsid > after)
  NSID.set(above.slice(0, NSID.length))
  return ActiveNamespaceList.create({ NSID }).data
}

/** Namespace UUID (type 3h) and Command Set Identifier (type 4h): type, length, two reserved bytes, then the value. */
function descriptors({ nsid }: Namespace, { identify: own }: DriveProfile): DataView {
  const list = new Uint8Array(IDENTIFY_BYTES)
  list.set([3, 16, 0, 0, ...uuid(own.SN ?? '', nsid), 4, 1, 0, 0, 0])
  return new DataView(list.buffer)
}

/** A UUID of version 8 (RFC 9562: its contents are its maker's own): the same drive and namespace have the same one. */
function uuid(serial: string, nsid: number): Uint8Array {
  const bytes = new Uint8Array(16)
  for (let i = 0; i < serial.length; i++) bytes[i % 11] = (bytes[i % 11]! * 31 + serial.charCodeAt(i)) & 0xff
  new DataView(bytes.buffer).setUint32(12, nsid)
  bytes[6] = (bytes[6]! & 0x0f) | 0x80
  bytes[8] = (bytes[8]! & 0x3f) | 0x80
  return bytes
}

function uuidText(bytes: Uint8Array): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
  return digits.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

function empty(): DataView {
  return new DataView(new ArrayBuffer(IDENTIFY_BYTES))
}
