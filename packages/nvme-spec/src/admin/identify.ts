import {
  adminCommand,
  bit,
  bits,
  bytes,
  cdw,
  cdwOpen,
  codes,
  dwordBits,
  someOf,
  struct,
  structs,
  u128,
  u16,
  u16Array,
  u32,
  u32Array,
  u8,
  type Memory,
} from '../layout/index.js'
import { viewOf } from '../layout/facts.js'

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

/** Namespace Identifier Types (Base 2.1 §5.1.13.2.3, Figure 315). */
export const NIDT = codes(
  'NIDT',
  { doc: 'Namespace Identifier Types', spec: 'Base 2.1 §5.1.13.2.3' },
  { EUI64: 0x1, NGUID: 0x2, UUID: 0x3, CSI: 0x4 },
)

/** Header of each identifier in the list that CNS 03h returns; NIDL bytes follow (Base 2.1 Figure 315). */
export const NamespaceIdDescriptor = struct(
  'Namespace Identification Descriptor',
  { bytes: 4, doc: 'Header of a namespace identifier', spec: 'Base 2.1 §5.1.13.2.3' },
  {
    NIDT: someOf(u8(0, 'Namespace Identifier Type'), NIDT.values),
    NIDL: u8(1, 'Namespace Identifier Length in bytes'),
  },
)

/** An identifier of a namespace. */
export interface NamespaceId {
  /** `NIDT.UUID` etc.; ignore reserved types. */
  readonly type: number
  /** A copy, in wire order: EUI-64, NGUID and UUID are big endian. */
  readonly id: Uint8Array
}

const typeLengths: Readonly<Record<number, number>> = {
  [NIDT.EUI64]: 8,
  [NIDT.NGUID]: 16,
  [NIDT.UUID]: 16,
  [NIDT.CSI]: 1,
}

/**
 * Iterates over the identifiers in the 4096 bytes that CNS 03h returns, which begin at byteOffset (Base 2.1
 * §5.1.13.2.3). The list ends with a length of 0, or with its last byte.
 * @throws RangeError if `memory` is too short, and for a descriptor that exceeds the list or whose length does not match
 *   its type; TypeError if `memory` has another type. Errors are thrown during iteration.
 */
export function* namespaceIds(memory: Memory, byteOffset = 0): Generator<NamespaceId, void, undefined> {
  const { name, bytes: headerBytes, spec } = NamespaceIdDescriptor
  const data = viewOf({ name: `${name} list`, bytes: IDENTIFY_BYTES, spec }, memory, byteOffset)
  let at = 0
  while (at + headerBytes <= IDENTIFY_BYTES) {
    const { NIDT: type, NIDL: length } = NamespaceIdDescriptor.view(data, byteOffset + at)
    if (length === 0) return
    const expected = typeLengths[type] ?? length
    if (length !== expected)
      throw new RangeError(`${name} at byte ${at}: expected NIDL ${expected} for NIDT ${type}, got ${length} (${spec})`)
    const end = at + headerBytes + length
    if (end > IDENTIFY_BYTES)
      throw new RangeError(`${name} at byte ${at}: ends at byte ${end} of a list of ${IDENTIFY_BYTES} (${spec})`)
    const from = data.byteOffset + byteOffset + at + headerBytes
    yield { type, id: new Uint8Array(data.buffer.slice(from, from + length)) }
    at = end
  }
}

/**
 * Returned by CNS 12h and 13h, and taken by Namespace Attachment: controllers in ascending order (Base 2.1 Figure 137).
 */
export const ControllerList = struct(
  'Controller List',
  { bytes: IDENTIFY_BYTES, doc: 'Up to 2047 controller identifiers', spec: 'Base 2.1 §4.6.1' },
  { NUMCIDS: u16(0, 'Number of Controller Identifiers'), CNTLID: u16Array(2, 2047, 'Controller Identifiers') },
)

/** An entry of the NVM Set List (Base 2.1 §5.1.13.2.4, Figure 318). */
export const NvmSetAttributes = struct(
  'NVM Set Attributes Entry',
  { bytes: 128, doc: 'An NVM Set', spec: 'Base 2.1 §5.1.13.2.4' },
  {
    NSETID: u16(0, 'NVM Set Identifier'),
    ENDGID: u16(2, 'Endurance Group Identifier'),
    R4KRT: u32(8, 'Random 4 KiB Read Typical in units of 100 ns'),
    OWS: u32(12, 'Optimal Write Size in bytes'),
    TNVMSC: u128(16, 'Total NVM Set Capacity in bytes'),
    UNVMSC: u128(32, 'Unallocated NVM Set Capacity in bytes'),
  },
)

/** Returned by CNS 04h (Base 2.1 §5.1.13.2.4, Figure 317). */
export const NvmSetList = struct(
  'NVM Set List',
  { bytes: IDENTIFY_BYTES, doc: 'Up to 31 NVM Sets', spec: 'Base 2.1 §5.1.13.2.4' },
  { NUMENT: u8(0, 'Number of Entries'), ENTRY: structs(128, 31, NvmSetAttributes, 'NVM Sets') },
)

/** An entry of the UUID List. */
export const UuidListEntry = struct(
  'UUID List Entry',
  { bytes: 32, doc: 'A UUID and its association', spec: 'libnvme 1.3 nvme_id_uuid_list_entry' },
  {
    IDASC: dwordBits(0, bits(1, 0, 'Identifier Association', { NONE: 0, VENDOR: 1, SUBSYSTEM_VENDOR: 2 })),
    UUID: bytes(16, 16, 'UUID, big endian'),
  },
)

/** Returned by CNS 17h: UUIDs 1 to 127 from bytes 63:32 on; a UUID of zeroes ends the list. */
export const UuidList = struct(
  'UUID List',
  { bytes: IDENTIFY_BYTES, doc: 'Up to 127 UUIDs', spec: 'libnvme 1.3 nvme_id_uuid_list' },
  { ENTRY: structs(32, 127, UuidListEntry, 'UUIDs, from UUID Index 1') },
)

/** An entry of the Domain List (Base 2.1 §5.1.13.2.15, Figure 324). */
export const DomainAttributes = struct(
  'Domain Attributes Entry',
  { bytes: 128, doc: 'A domain', spec: 'Base 2.1 §5.1.13.2.15' },
  {
    DID: u16(0, 'Domain Identifier'),
    TDC: u128(16, 'Total Domain Capacity in bytes'),
    UDC: u128(32, 'Unallocated Domain Capacity in bytes'),
    MEGDC: u128(48, 'Max Endurance Group Domain Capacity in bytes'),
  },
)

/** Returned by CNS 18h (Base 2.1 §5.1.13.2.15, Figure 323; byte 0 as in libnvme 1.3 `nvme_id_domain_list`). */
export const DomainList = struct(
  'Domain List',
  { bytes: IDENTIFY_BYTES, doc: 'Up to 31 domains', spec: 'Base 2.1 §5.1.13.2.15' },
  { NUMENT: u8(0, 'Number of Entries'), ENTRY: structs(128, 31, DomainAttributes, 'Domains') },
)

/** Returned by CNS 19h (Base 2.1 §5.1.13.2.16, Figure 326). */
export const EnduranceGroupList = struct(
  'Endurance Group List',
  { bytes: IDENTIFY_BYTES, doc: 'Up to 2047 Endurance Group Identifiers', spec: 'Base 2.1 §5.1.13.2.16' },
  {
    NEGIDS: u16(0, 'Number of Endurance Group Identifiers'),
    ENDGID: u16Array(2, 2047, 'Endurance Group Identifiers'),
  },
)

/** Command sets that can be used together: one bit for each CSI (Base 2.3 §5.2.13.2.19, Figure 344). */
export const IoCommandSetVector = struct(
  'I/O Command Set Vector',
  { bytes: 8, doc: 'Command sets that can be used together', spec: 'Base 2.3 §5.2.13.2.19' },
  {
    NVMCS: dwordBits(0, bit(0, 'NVM Command Set')),
    KVCS: dwordBits(0, bit(1, 'Key Value Command Set')),
    ZNSCS: dwordBits(0, bit(2, 'Zoned Namespace Command Set')),
    SLMCS: dwordBits(0, bit(3, 'Subsystem Local Memory Command Set')),
    CPNCS: dwordBits(0, bit(4, 'Computational Programs Command Set')),
  },
)

/** Returned by CNS 1Ch; the I/O Command Set Profile feature selects an index (Base 2.1 Figure 327). */
export const IoCommandSets = struct(
  'Identify I/O Command Set',
  { bytes: IDENTIFY_BYTES, doc: 'Combinations of command sets', spec: 'Base 2.1 §5.1.13.2.19' },
  { IOCSC: structs(0, 512, IoCommandSetVector, 'I/O Command Set Combinations') },
)

/**
 * Rows that this structure shares with Identify Namespace of the NVM Command Set. The page with NSFEAT, NMIC and RESCAP
 * could not be read: their bits are those of libnvme 1.3 (`nvme_id_ns_nmic`, `nvme_id_ns_rescap`) and of nvme-cli.
 * DISNS is named in Base 2.1 §8.1.9.3; its position is from a public declaration of Base 2.1.
 */
export const namespaceRows = {
  NMIC: { SHRNS: bit(0, 'Shared Namespace'), DISNS: bit(1, 'Dispersed Namespace') },
  RESCAP: {
    PTPL: bit(0, 'Persist Through Power Loss'),
    WE: bit(1, 'Write Exclusive'),
    EA: bit(2, 'Exclusive Access'),
    WERO: bit(3, 'Write Exclusive - Registrants Only'),
    EARO: bit(4, 'Exclusive Access - Registrants Only'),
    WEAR: bit(5, 'Write Exclusive - All Registrants'),
    EAAR: bit(6, 'Exclusive Access - All Registrants'),
    IEK: bit(7, 'Ignore Existing Key as in 1.3 and later'),
  },
  FPI: { RFNVM: bits(6, 0, 'Remaining Format NVM in percent'), FPIS: bit(7, 'Format Progress Indicator Support') },
  NSATTR: { CWP: bit(0, 'Currently Write Protected') },
  KPIOS: { KPIOENS: bit(0, 'Key Per I/O Enabled in Namespace'), KPIOSNS: bit(1, 'Key Per I/O Supported in Namespace') },
} as const

/** Returned by CNS 08h, for a namespace of any command set (Base 2.1 §5.1.13.2.8, Figure 319). */
export const IdentifyIndependentNamespace = struct(
  'I/O Command Set Independent Identify Namespace',
  { bytes: IDENTIFY_BYTES, doc: 'Namespace data common to all command sets', spec: 'Base 2.1 §5.1.13.2.8' },
  {
    NSFEAT: u8(0, 'Common Namespace Features', {
      UIDREUSE: bit(3, 'UID Reuse'),
      RMEDIA: bit(4, 'Rotational Media'),
      VWCNP: bit(5, 'Volatile Write Cache Not Present'),
    }),
    NMIC: u8(1, 'Namespace Multi-path I/O and Namespace Sharing Capabilities', namespaceRows.NMIC),
    RESCAP: u8(2, 'Reservation Capabilities', namespaceRows.RESCAP),
    FPI: u8(3, 'Format Progress Indicator', namespaceRows.FPI),
    ANAGRPID: u32(4, 'ANA Group Identifier'),
    NSATTR: u8(8, 'Namespace Attributes', namespaceRows.NSATTR),
    NVMSETID: u16(10, 'NVM Set Identifier'),
    ENDGID: u16(12, 'Endurance Group Identifier'),
    NSTAT: u8(14, 'Namespace Status', {
      NRDY: bit(0, 'Namespace Ready'),
      IOI: bits(2, 1, 'I/O Impacted', { NOT_REPORTED: 0, NOT_DEGRADED: 2, DEGRADED: 3 }),
    }),
    KPIOS: u8(15, 'Key Per I/O Status', namespaceRows.KPIOS),
    MAXKT: u16(16, 'Maximum Key Tag'),
    RGRPID: u32(20, 'Reachability Group Identifier'),
  },
)

// VQ resources are queue pairs, VI resources interrupt vectors (Base 2.1 §8.2.6).

/** Returned by CNS 14h: resources that a primary controller can assign to its secondary controllers. */
export const PrimaryControllerCapabilities = struct(
  'Primary Controller Capabilities',
  {
    bytes: IDENTIFY_BYTES,
    doc: 'Flexible resources of a primary controller',
    spec: 'libnvme 1.3 nvme_primary_ctrl_cap',
  },
  {
    CNTLID: u16(0, 'Controller Identifier'),
    PORTID: u16(2, 'Port Identifier'),
    CRT: u8(4, 'Controller Resource Types', {
      VQ: bit(0, 'VQ Resources supported'),
      VI: bit(1, 'VI Resources supported'),
    }),
    VQFRT: u32(32, 'VQ Resources Flexible Total'),
    VQRFA: u32(36, 'VQ Resources Flexible Assigned'),
    VQRFAP: u16(40, 'VQ Resources Flexible Allocated to Primary'),
    VQPRT: u16(42, 'VQ Resources Private Total'),
    VQFRSM: u16(44, 'VQ Resources Flexible Secondary Maximum'),
    VQGRAN: u16(46, 'VQ Flexible Resource Preferred Granularity'),
    VIFRT: u32(64, 'VI Resources Flexible Total'),
    VIRFA: u32(68, 'VI Resources Flexible Assigned'),
    VIRFAP: u16(72, 'VI Resources Flexible Allocated to Primary'),
    VIPRT: u16(74, 'VI Resources Private Total'),
    VIFRSM: u16(76, 'VI Resources Flexible Secondary Maximum'),
    VIGRAN: u16(78, 'VI Flexible Resource Preferred Granularity'),
  },
)

/** An entry of the Secondary Controller List. */
export const SecondaryController = struct(
  'Secondary Controller Entry',
  { bytes: 32, doc: 'A secondary controller', spec: 'libnvme 1.3 nvme_secondary_ctrl' },
  {
    SCID: u16(0, 'Secondary Controller Identifier'),
    PCID: u16(2, 'Primary Controller Identifier'),
    SCS: u8(4, 'Secondary Controller State', { STATE: bits(0, 0, 'State', { OFFLINE: 0, ONLINE: 1 }) }),
    VFN: u16(8, 'Virtual Function Number'),
    NVQ: u16(10, 'Number of VQ Flexible Resources Assigned'),
    NVI: u16(12, 'Number of VI Flexible Resources Assigned'),
  },
)

/** Returned by CNS 15h. */
export const SecondaryControllerList = struct(
  'Secondary Controller List',
  { bytes: IDENTIFY_BYTES, doc: 'Up to 127 secondary controllers', spec: 'libnvme 1.3 nvme_secondary_ctrl_list' },
  { NUMID: u8(0, 'Number of Identifiers'), ENTRY: structs(32, 127, SecondaryController, 'Secondary controllers') },
)
