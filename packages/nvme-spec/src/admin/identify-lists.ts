import { bit, bits, bytes, dwordBits, struct, structs, u128, u16, u16Array, u32, u8 } from '../layout/index.js'
import { IDENTIFY_BYTES } from './identify.js'

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

/** Command sets that can be used together. The bits are those of libnvme 1.16 `nvme_id_iocs_iocsc`, and of CSI. */
export const IoCommandSetVector = struct(
  'I/O Command Set Vector',
  { bytes: 8, doc: 'Command sets that can be used together', spec: 'libnvme 1.16 nvme_id_iocs_iocsc' },
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
