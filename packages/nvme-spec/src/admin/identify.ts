import { adminCommand, cdw, cdwOpen, codes, struct, u32Array } from '../layout/index.js'

/** Length of every structure that Identify returns, in bytes. */
export const IDENTIFY_BYTES = 4096

/**
 * Values of Identify's CNS field (Base 2.1 §5.1.13.1, Figure 310). The rows up to 17h are on a page that could not be
 * read; their values are those of libnvme 1.3 `nvme_identify_cns`.
 */
export const CNS = codes(
  'CNS',
  { doc: 'Data structures that Identify returns', spec: 'Base 2.1 §5.1.13.1' },
  {
    NAMESPACE: 0x00,
    CONTROLLER: 0x01,
    ACTIVE_NAMESPACE_LIST: 0x02,
    NAMESPACE_DESCRIPTOR_LIST: 0x03,
    NVM_SET_LIST: 0x04,
    COMMAND_SET_NAMESPACE: 0x05,
    COMMAND_SET_CONTROLLER: 0x06,
    COMMAND_SET_ACTIVE_NAMESPACE_LIST: 0x07,
    INDEPENDENT_NAMESPACE: 0x08,
    FORMAT_NAMESPACE: 0x09,
    COMMAND_SET_FORMAT_NAMESPACE: 0x0a,
    ALLOCATED_NAMESPACE_LIST: 0x10,
    ALLOCATED_NAMESPACE: 0x11,
    ATTACHED_CONTROLLER_LIST: 0x12,
    CONTROLLER_LIST: 0x13,
    PRIMARY_CONTROLLER_CAPABILITIES: 0x14,
    SECONDARY_CONTROLLER_LIST: 0x15,
    NAMESPACE_GRANULARITY_LIST: 0x16,
    UUID_LIST: 0x17,
    DOMAIN_LIST: 0x18,
    ENDURANCE_GROUP_LIST: 0x19,
    COMMAND_SET_ALLOCATED_NAMESPACE_LIST: 0x1a,
    COMMAND_SET_ALLOCATED_NAMESPACE: 0x1b,
    COMMAND_SETS: 0x1c,
    UNDERLYING_NAMESPACE_LIST: 0x1d,
    PORTS_LIST: 0x1e,
    INDEPENDENT_ALLOCATED_NAMESPACE: 0x1f,
    SUPPORTED_CONTROLLER_STATE_FORMATS: 0x20,
  },
)

/** I/O command sets by their identifier (Base 2.1 §5.1.13.1, Figure 311); 30h to 3Fh are vendor specific. */
export const CSI = codes(
  'CSI',
  { doc: 'Command Set Identifiers', spec: 'Base 2.1 §5.1.13.1' },
  { NVM: 0x00, KV: 0x01, ZNS: 0x02, SLM: 0x03, CP: 0x04 },
)

/** Returns 4096 bytes about the controller, a namespace, or a list of either (Base 2.1 §5.1.13). */
export const Identify = adminCommand(
  'Identify',
  {
    opcode: 0x06,
    doc: 'Returns 4096 bytes, selected by CNS',
    spec: 'Base 2.1 §5.1.13',
  },
  {
    CNS: cdwOpen(10, 7, 0, 'Controller or Namespace Structure', CNS.values),
    CNTID: cdw(10, 31, 16, 'Controller Identifier'),
    CNSSID: cdw(11, 15, 0, 'CNS Specific Identifier'),
    CSI: cdwOpen(11, 31, 24, 'Command Set Identifier', CSI.values),
    UIDX: cdw(14, 6, 0, 'UUID Index'),
  },
)

/** Returned by CNS 02h and 07h: active NSIDs above the given one, in increasing order, zero filled. */
export const ActiveNamespaceList = struct(
  'Active Namespace ID list',
  { bytes: IDENTIFY_BYTES, doc: 'Up to 1024 active namespace identifiers (CNS 02h)', spec: 'Base 2.1 §5.1.13.2.2' },
  { NSID: u32Array(0, 1024, 'Namespace Identifiers') },
)

/** Returned by CNS 10h and 1Ah: allocated NSIDs above the given one, in increasing order, zero filled. */
export const AllocatedNamespaceList = struct(
  'Allocated Namespace ID list',
  { bytes: IDENTIFY_BYTES, doc: 'Up to 1024 allocated namespace identifiers', spec: 'Base 2.1 §5.1.13.2.9' },
  { NSID: u32Array(0, 1024, 'Namespace Identifiers') },
)
