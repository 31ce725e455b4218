import { codes } from '../layout/codes.js'
import { adminCommand, cdw, cdwOpen } from '../layout/command.js'
import { u32Array } from '../layout/field.js'
import { struct } from '../layout/struct.js'

/** Length of every structure that Identify returns. */
export const IDENTIFY_BYTES = 4096

/** Values of Identify's CNS field (Base 2.1 §5.1.13.1, Figure 310). */
export const CNS = codes(
  'CNS',
  { doc: 'Controller or Namespace Structure: what Identify is to return', spec: 'Base 2.1 §5.1.13.1' },
  {
    NAMESPACE: 0x00,
    CONTROLLER: 0x01,
    ACTIVE_NAMESPACE_LIST: 0x02,
    NAMESPACE_DESCRIPTOR_LIST: 0x03,
  },
)

/** Returns 4096 bytes about the controller, a namespace, or a list of either (Base 2.1 §5.1.13). */
export const Identify = adminCommand(
  'Identify',
  {
    opcode: 0x06,
    doc: 'Returns 4096 bytes about the controller, a namespace, or a list of either',
    spec: 'Base 2.1 §5.1.13',
  },
  {
    CNS: cdwOpen(10, 7, 0, 'Controller or Namespace Structure', CNS.values),
    CNTID: cdw(10, 31, 16, 'Controller Identifier'),
    CNSSID: cdw(11, 15, 0, 'CNS Specific Identifier'),
    CSI: cdw(11, 31, 24, 'Command Set Identifier'),
    UIDX: cdw(14, 6, 0, 'UUID Index'),
  },
)

/** What CNS 02h returns: active NSIDs above the one asked for, in increasing order, zero filled. */
export const ActiveNamespaceList = struct(
  'Active Namespace ID list',
  { bytes: IDENTIFY_BYTES, doc: 'Up to 1024 active namespace identifiers (CNS 02h)', spec: 'Base 2.1 §5.1.13.2.2' },
  { NSID: u32Array(0, 1024, 'Namespace Identifiers') },
)
