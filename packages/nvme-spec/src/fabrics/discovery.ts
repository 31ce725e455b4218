import { checkInteger } from '../layout/facts.js'
import {
  ascii,
  bit,
  bits,
  bytes,
  codes,
  inHex,
  merge,
  someOf,
  struct,
  u16,
  u32,
  u64,
  u8,
  word32,
  type FieldMap,
} from '../layout/index.js'

/** NQN of every Discovery subsystem (Linux 6.1 linux/nvme.h NVME_DISC_SUBSYS_NAME). */
export const DISCOVERY_NQN = 'nqn.2014-08.org.nvmexpress.discovery'

/** Transport types, TRTYPE of a discovery log page entry; their page of Base 2.1 could not be read. */
export const TRTYPE = codes(
  'TRTYPE',
  { doc: 'Transport types', spec: 'libnvme 1.3 nvmf_trtype' },
  { RDMA: 1, FC: 2, TCP: 3, LOOP: 254 },
)

/** Address families, ADRFAM of a discovery log page entry; their page of Base 2.1 could not be read. */
export const ADRFAM = codes(
  'ADRFAM',
  { doc: 'Address families', spec: 'libnvme 1.3 nvmf_addr_family' },
  { PCI: 0, IP4: 1, IP6: 2, IB: 3, FC: 4, LOOP: 254 },
)

/** Types of a subsystem, SUBTYPE of a discovery log page entry (Base 2.1 §5.1.12.3.1, Figure 294). */
export const SUBTYPE = codes(
  'SUBTYPE',
  { doc: 'Subsystem types', spec: 'Base 2.1 §5.1.12.3.1' },
  { REFERRAL: 1, NVM: 2, CURRENT_DISCOVERY: 3 },
)

/** LSP of Get Log Page for the Discovery log (LID 70h); bits of libnvme 1.3, names of Base 2.1 §5.1.12.3.1. */
export const DiscoveryLsp = word32(
  'Discovery LSP',
  { doc: 'Selected entries', spec: 'libnvme 1.3 nvmf_log_discovery_lsp' },
  {
    EXTDLPE: bit(0, 'Extended Discovery Log Page Entries'),
    PLEO: bit(1, 'Port Local Entries Only'),
    ALLSUBE: bit(2, 'All NVM Subsystem Entries'),
  },
)

/** LIDSP of the Discovery log in Supported Log Pages (Base 2.1 §5.1.12.3.1, Figure 292). */
export const DiscoveryLidsp = word32(
  'Discovery LIDSP',
  { doc: 'Support of the Discovery log', spec: 'Base 2.1 §5.1.12.3.1' },
  {
    EXTDLPES: bit(0, 'Extended Discovery Log Page Entry Supported'),
    PLEOS: bit(1, 'Port Local Entries Only Supported'),
    ALLSUBES: bit(2, 'All NVM Subsystem Entries Supported'),
  },
)

/**
 * Header of the Discovery log (LID 70h), followed by NUMREC entries. Base 2.1 §5.1.12.3.1 names the flags; Figure 296,
 * with their bits and TDLPL, could not be read.
 */
export const DiscoveryLog = struct(
  'Discovery log header',
  { bytes: 1024, doc: 'Header of the Discovery log (LID 70h)', spec: 'libnvme 1.3 nvmf_discovery_log' },
  {
    GENCTR: u64(0, 'Generation Counter; changes with each change of the log'),
    NUMREC: u64(8, 'Number of Records'),
    RECFMT: u16(16, 'Record Format: 0'),
    // Offsets and bits of SPDK 26.09 nvmf_spec.h spdk_nvmf_discovery_log_page: libnvme 1.3 reserves these bytes.
    DLPF: u8(18, 'Discovery Log Page Flags', {
      EXTEND: bit(0, 'Extended: some entries may be extended'),
      PORTLCL: bit(1, 'Port Local: only entries of the port that received the command'),
      ALLSUB: bit(2, 'All Subsystems: entries of all registered ports, for any host'),
    }),
    TDLPL: u32(20, 'Total Discovery Log Page Length in bytes'),
  },
)

const entry = {
  TRTYPE: someOf(u8(0, 'Transport Type'), TRTYPE.values),
  ADRFAM: someOf(u8(1, 'Address Family'), ADRFAM.values),
  SUBTYPE: someOf(u8(2, 'Subsystem Type'), SUBTYPE.values),
  TREQ: u8(3, 'Transport Requirements', {
    TSC: bits(1, 0, 'Transport Secure Channel', { NOT_SPECIFIED: 0, REQUIRED: 1, NOT_REQUIRED: 2 }),
    SQFCD: bit(2, 'SQ Flow Control Disable supported'),
    ZHIDS: bit(3, 'Zero Host ID Support'),
    TASC: bits(5, 4, 'Transport Authentication and Secure Channel', {
      NOT_SPECIFIED: 0,
      AUTHENTICATION: 1,
      AUTHENTICATION_AND_SECURE_CHANNEL: 2,
    }),
  }),
  PORTID: u16(4, 'Port ID'),
  CNTLID: inHex(u16(6, 'Controller ID; FFFFh is dynamic, FFFEh is any static controller')),
  ASQSZ: u16(8, 'Admin Max SQ Size in entries'),
  // Bits of libnvme 1.3 nvmf_disc_eflags: their page of Base 2.1 could not be read.
  EFLAGS: u16(10, 'Entry Flags', {
    DUPRETINFO: bit(0, 'Duplicate Returned Information'),
    EPCSD: bit(1, 'Explicit Persistent Connection Support for Discovery'),
    NCC: bit(2, 'No CDC Connectivity'),
  }),
  TRSVCID: ascii(32, 32, 'Transport Service Identifier; over TCP a port in decimal'),
  SUBNQN: ascii(256, 256, 'NVM Subsystem Qualified Name, null terminated', 0),
  TRADDR: ascii(512, 256, 'Transport Address'),
  TSAS: bytes(768, 256, 'Transport Specific Address Subtype'),
} satisfies FieldMap

/**
 * An entry of the Discovery log: a port of a subsystem (Base 2.1 §5.1.12.3.1, Figure 294, and offsets also of Figure
 * 295). TSAS is a `TcpAddressSubtype` or an `RdmaAddressSubtype`, by TRTYPE.
 */
export const DiscoveryLogEntry = struct(
  'Discovery log entry',
  { bytes: 1024, doc: 'An entry of the Discovery log', spec: 'Base 2.1 §5.1.12.3.1' },
  entry,
)

/**
 * First 1032 bytes of an extended entry, followed by NUMEXAT extended attributes. TEL is the offset of the next entry from
 * this one (Base 2.1 §5.1.12.3.1, Figure 295, which calls SUBNQN NQN).
 */
export const ExtendedDiscoveryLogEntry = struct(
  'Extended discovery log entry',
  { bytes: 1032, doc: 'An entry with extended attributes', spec: 'Base 2.1 §5.1.12.3.1' },
  merge(entry, {
    TEL: u32(1024, 'Total Entry Length in bytes'),
    NUMEXAT: u16(1028, 'Number of Extended Attributes'),
  }),
)

/** Types of an extended attribute (Base 2.1 Figure 499). FF00h to FFFFh are vendor specific. */
export const EXATTYPE = codes(
  'EXATTYPE',
  { doc: 'Extended attribute types', spec: 'libnvme 1.3 nvmf_exattype' },
  { HOST_IDENTIFIER: 1, ADMIN_LABEL_ASCII: 2, ADMIN_LABEL_UTF8: 3 },
)

/** Header of an extended attribute, followed by EXATLEN bytes of its value. */
export const ExtendedAttribute = struct(
  'Extended Attribute header',
  { bytes: 4, doc: 'Header of an extended attribute', spec: 'libnvme 1.3 nvmf_ext_attr' },
  {
    EXATTYPE: someOf(u16(0, 'Extended Attribute Type'), EXATTYPE.values),
    EXATLEN: u16(2, 'Extended Attribute Length in bytes'),
  },
)

const TSAS_BYTES = 256

/** TSAS of TCP (TCP 1.0 §3.6.1.1, Figure 17). */
export const TcpAddressSubtype = struct(
  'TSAS of TCP',
  { bytes: TSAS_BYTES, doc: 'Security of a TCP port', spec: 'TCP 1.0 §3.6.1.1' },
  { SECTYPE: someOf(u8(0, 'Security Type'), { NONE: 0, TLS_1_2: 1, TLS_1_3: 2 }) },
)

/** TSAS of RDMA (RDMA 1.0 §3.1, Figure 3). */
export const RdmaAddressSubtype = struct(
  'TSAS of RDMA',
  { bytes: TSAS_BYTES, doc: 'Properties of an RDMA port', spec: 'RDMA 1.0 §3.1' },
  {
    RDMA_QPTYPE: someOf(u8(0, 'RDMA QP Service Type'), { CONNECTED: 1, DATAGRAM: 2 }),
    RDMA_PRTYPE: someOf(u8(1, 'RDMA Provider Type'), {
      NOT_SPECIFIED: 1,
      INFINIBAND: 2,
      ROCE: 3,
      ROCE_V2: 4,
      IWARP: 5,
    }),
    RDMA_CMS: someOf(u8(2, 'RDMA Connection Management Service'), { RDMA_IP_CM: 1 }),
    RDMA_PKEY: inHex(u16(8, 'Partition Key, for address family IB')),
  },
)

/** Returns the byte offset of the index-th entry in a Discovery log of unextended entries (libnvme 1.3 nvmf_discovery_log). @throws TypeError, RangeError for an invalid index. */
export function discoveryEntryOffset(index: number): number {
  checkInteger('index', index, 0)
  return DiscoveryLog.bytes + index * DiscoveryLogEntry.bytes
}
