import { command } from '../layout/commands.js'
import {
  bit,
  bits,
  bytes,
  cdw,
  cdw64,
  cdwBit,
  cdwCount,
  cdwOpen,
  codes,
  count16,
  dwordBits,
  n64,
  nvmCommand,
  openBits,
  struct,
  u16,
  u32,
  word32,
  merge,
} from '../layout/index.js'

/** Opcodes of the NVM Command Set, including those common to all I/O command sets (NVM 1.2 §3.3, Figure 21). */
export const NVM_OPCODE = codes(
  'NVM_OPCODE',
  { doc: 'Opcodes of the NVM Command Set', spec: 'NVM 1.2 §3.3' },
  {
    FLUSH: 0x00,
    WRITE: 0x01,
    READ: 0x02,
    WRITE_UNCORRECTABLE: 0x04,
    COMPARE: 0x05,
    WRITE_ZEROES: 0x08,
    DATASET_MANAGEMENT: 0x09,
    VERIFY: 0x0c,
    RESERVATION_REGISTER: 0x0d,
    RESERVATION_REPORT: 0x0e,
    RESERVATION_ACQUIRE: 0x11,
    IO_MANAGEMENT_RECEIVE: 0x12,
    RESERVATION_RELEASE: 0x15,
    CANCEL: 0x18,
    COPY: 0x19,
    IO_MANAGEMENT_SEND: 0x1d,
  },
)

/**
 * The bits of PRINFO, PRINFOR and PRINFOW (NVM 1.2 §2.1.5, Figure 11): `entry.PRINFO = PRINFO.encode({ PRACT: 1 })`.
 * RTCHK, ATCHK and GRDCHK together are PRCHK.
 */
export const PRINFO = word32(
  'PRINFO',
  { doc: 'Protection Information', spec: 'NVM 1.2 §2.1.5' },
  {
    RTCHK: bit(0, 'Reference Tag Check'),
    ATCHK: bit(1, 'Application Tag Check'),
    GRDCHK: bit(2, 'Guard Check'),
    PRACT: bit(3, 'Protection Information Action'),
  },
)

const access = {
  NONE: 0,
  TYPICAL: 1,
  INFREQUENT: 2,
  FREQUENT_READS: 3,
  FREQUENT_WRITES: 4,
  FREQUENT: 5,
} as const

/** Access Latency, for both DSM and the context attributes of a range. */
const latency = bits(5, 4, 'Access Latency', { NONE: 0, IDLE: 1, NORMAL: 2, LOW: 3 })

/**
 * The bits of DSM of Read and Write (NVM 1.2 §3.3.4, Figure 54; §3.3.6, Figure 71); SPECULATIVE and SOON_OVERWRITTEN
 * are only for Read.
 */
export const DSM = word32(
  'DSM',
  { doc: 'Dataset Management', spec: 'NVM 1.2 §3.3.4' },
  {
    AF: openBits(3, 0, 'Access Frequency', merge(access, { ONE_TIME: 6, SPECULATIVE: 7, SOON_OVERWRITTEN: 8 })),
    AL: latency,
    SEQREQ: bit(6, 'Sequential Request'),
    INCPRS: bit(7, 'Incompressible'),
  },
)

/** Command Dword 13 of Read and Write if CETYPE is not 0 (NVM 1.2 §3.3.4, Figure 55; §3.3.6, Figure 72). */
export const CommandExtensionCdw13 = word32(
  'CommandExtension.CDW13',
  { doc: 'Command Dword 13 if CETYPE is not 0', spec: 'NVM 1.2 §3.3.6' },
  {
    CEV: bits(15, 0, 'Command Extension Value'),
    DSPEC: bits(31, 16, 'Directive Specific, for a Write'),
  },
)

/** The rows of the context attributes of a range (NVM 1.2 §3.3.3.2, Figure 47). */
const contextAttributes = {
  AF: openBits(3, 0, 'Access Frequency', access),
  AL: latency,
  SRR: bit(8, 'Sequential Read Range'),
  SWR: bit(9, 'Sequential Write Range'),
  WPREP: bit(10, 'Write Prepare'),
  CASZE: bits(31, 24, 'Command Access Size in logical blocks'),
}

/**
 * Commits data and metadata of a namespace to non-volatile media; NSID FFFFFFFFh for all namespaces (Base 2.1 §7.2).
 */
export const Flush = nvmCommand(
  'Flush',
  { opcode: 0x00, doc: 'Commits data and metadata to non-volatile media', spec: 'Base 2.1 §7.2' },
  {},
)

const readWriteFields = {
  SLBA: cdw64(10, 'Starting LBA'),
  NLB: cdwCount(12, 15, 0, 'Number of Logical Blocks'),
  CETYPE: cdw(12, 19, 16, 'Command Extension Type'),
  STC: cdwBit(12, 24, 'Storage Tag Check'),
  PRINFO: cdw(12, 29, 26, 'Protection Information'),
  FUA: cdwBit(12, 30, 'Force Unit Access'),
  LR: cdwBit(12, 31, 'Limited Retry'),
  DSM: cdw(13, 7, 0, 'Dataset Management'),
}

/**
 * Reads logical blocks (NVM 1.2 §3.3.4, Figures 49 to 57). ELBTU occupies two dwords, upper half first: use `packTags`.
 * The bits of PRINFO and DSM are the words of those names. If CETYPE is not 0, Command Dword 13 is
 * `CommandExtensionCdw13`.
 */
export const Read = command(
  'Read',
  'nvm',
  { opcode: 0x02, doc: 'Reads logical blocks', spec: 'NVM 1.2 §3.3.4' },
  merge(readWriteFields, {
    ELBTU2: cdw(2, 15, 0, 'Expected Logical Block Tags Upper, bits 47:32'),
    ELBTU3: cdw(3, 31, 0, 'Expected Logical Block Tags Upper, bits 31:00'),
    ELBTL: cdw(14, 31, 0, 'Expected Logical Block Tags Lower'),
    ELBAT: cdw(15, 15, 0, 'Expected Logical Block Application Tag'),
    ELBATM: cdw(15, 31, 16, 'Expected Logical Block Application Tag Mask'),
  }),
)

/** Writes logical blocks (NVM 1.2 §3.3.6, Figures 66 to 74); LBTU, PRINFO, DSM and CETYPE as for Read. */
export const Write = command(
  'Write',
  'nvm',
  { opcode: 0x01, doc: 'Writes logical blocks', spec: 'NVM 1.2 §3.3.6' },
  merge(readWriteFields, {
    DTYPE: cdw(12, 23, 20, 'Directive Type'),
    DSPEC: cdw(13, 31, 16, 'Directive Specific'),
    LBTU2: cdw(2, 15, 0, 'Logical Block Tags Upper, bits 47:32'),
    LBTU3: cdw(3, 31, 0, 'Logical Block Tags Upper, bits 31:00'),
    LBTL: cdw(14, 31, 0, 'Logical Block Tags Lower'),
    LBAT: cdw(15, 15, 0, 'Logical Block Application Tag'),
    LBATM: cdw(15, 31, 16, 'Logical Block Application Tag Mask'),
  }),
)

const rangeFields = {
  SLBA: cdw64(10, 'Starting LBA'),
  NLB: cdwCount(12, 15, 0, 'Number of Logical Blocks'),
  DSPEC: cdw(13, 31, 16, 'Directive Specific'),
}

/** Marks logical blocks as unreadable until they are written (NVM 1.2 §3.3.7, Figures 76 to 78). */
export const WriteUncorrectable = nvmCommand(
  'Write Uncorrectable',
  { opcode: 0x04, doc: 'Marks logical blocks as unreadable', spec: 'NVM 1.2 §3.3.7' },
  merge(rangeFields, { DTYPE: cdw(12, 23, 20, 'Directive Type') }),
)

/** Sets logical blocks to zero, or the whole namespace with NSZ and DEAC (NVM 1.2 §3.3.8, Figures 80 to 86). */
export const WriteZeroes = nvmCommand(
  'Write Zeroes',
  { opcode: 0x08, doc: 'Clears logical blocks to zero', spec: 'NVM 1.2 §3.3.8' },
  merge(rangeFields, {
    CETYPE: cdw(12, 19, 16, 'Command Extension Type'),
    DTYPE: cdw(12, 22, 20, 'Directive Type'),
    NSZ: cdwBit(12, 23, 'Namespace Zeroes'),
    STC: cdwBit(12, 24, 'Storage Tag Check; 0'),
    DEAC: cdwBit(12, 25, 'Deallocate'),
    PRINFO: cdw(12, 29, 26, 'Protection Information; PRCHK is 0'),
    FUA: cdwBit(12, 30, 'Force Unit Access'),
    LR: cdwBit(12, 31, 'Limited Retry'),
    CEV: cdw(13, 15, 0, 'Command Extension Value'),
    LBTU2: cdw(2, 15, 0, 'Logical Block Tags Upper, bits 47:32'),
    LBTU3: cdw(3, 31, 0, 'Logical Block Tags Upper, bits 31:00'),
    LBTL: cdw(14, 31, 0, 'Logical Block Tags Lower'),
    LBAT: cdw(15, 15, 0, 'Logical Block Application Tag'),
    LBATM: cdw(15, 31, 16, 'Logical Block Application Tag Mask'),
  }),
)

/** Dword 0 of the completion of Write Zeroes with NSZ (NVM 1.2 §3.3.8.1, Figure 87). */
export const WriteZeroesDw0 = word32(
  'WriteZeroes.DW0',
  { doc: 'Completion of Write Zeroes', spec: 'NVM 1.2 §3.3.8.1' },
  { LBACZ: bit(0, 'LBAs Cleared to Zero, all of the namespace') },
)

const checkFields = {
  SLBA: cdw64(10, 'Starting LBA'),
  NLB: cdwCount(12, 15, 0, 'Number of Logical Blocks'),
  CETYPE: cdw(12, 19, 16, 'Command Extension Type'),
  STC: cdwBit(12, 24, 'Storage Tag Check'),
  PRINFO: cdw(12, 29, 26, 'Protection Information; PRACT is 0'),
  FUA: cdwBit(12, 30, 'Force Unit Access'),
  LR: cdwBit(12, 31, 'Limited Retry'),
  CEV: cdw(13, 15, 0, 'Command Extension Value'),
  ELBTU2: cdw(2, 15, 0, 'Expected Logical Block Tags Upper, bits 47:32'),
  ELBTU3: cdw(3, 31, 0, 'Expected Logical Block Tags Upper, bits 31:00'),
  ELBTL: cdw(14, 31, 0, 'Expected Logical Block Tags Lower'),
  ELBAT: cdw(15, 15, 0, 'Expected Logical Block Application Tag'),
  ELBATM: cdw(15, 31, 16, 'Expected Logical Block Application Tag Mask'),
}

/** Compares logical blocks with data in memory (NVM 1.2 §3.3.1, Figures 22 to 29). */
export const Compare = nvmCommand(
  'Compare',
  { opcode: 0x05, doc: 'Compares logical blocks with data in memory', spec: 'NVM 1.2 §3.3.1' },
  checkFields,
)

/** Checks logical blocks without transferring them (NVM 1.2 §3.3.5, Figures 59 to 64). */
export const Verify = nvmCommand(
  'Verify',
  { opcode: 0x0c, doc: 'Checks logical blocks without transferring them', spec: 'NVM 1.2 §3.3.5' },
  checkFields,
)

/** Describes the use of ranges of logical blocks, or deallocates them (NVM 1.2 §3.3.3, Figures 43 to 45). */
export const DatasetManagement = nvmCommand(
  'Dataset Management',
  { opcode: 0x09, doc: 'Attributes of ranges of logical blocks', spec: 'NVM 1.2 §3.3.3' },
  {
    NR: cdwCount(10, 7, 0, 'Number of Ranges'),
    IDR: cdwBit(11, 0, 'Attribute: Integral Dataset for Read'),
    IDW: cdwBit(11, 1, 'Attribute: Integral Dataset for Write'),
    AD: cdwBit(11, 2, 'Attribute: Deallocate'),
  },
)

/** One of up to 256 ranges, the data of Dataset Management (NVM 1.2 §3.3.3, Figures 46 and 47). */
export const DatasetManagementRange = struct(
  'Dataset Management Range',
  { bytes: 16, doc: 'A range of logical blocks with attributes', spec: 'NVM 1.2 §3.3.3' },
  {
    CATTR: u32(0, 'Context Attributes', contextAttributes),
    LLB: u32(4, 'Length in Logical Blocks'),
    SLBA: n64(8, 'Starting LBA'),
  },
)

/**
 * Copies ranges of logical blocks to one (NVM 1.2 §3.3.2, Figures 31 to 37). DESFMT is the format of the ranges. Format
 * 4h belongs to the Subsystem Local Memory Command Set and is not declared here.
 */
export const Copy = nvmCommand(
  'Copy',
  { opcode: 0x19, doc: 'Copies ranges of logical blocks to one', spec: 'NVM 1.2 §3.3.2' },
  {
    SDLBA: cdw64(10, 'Starting Destination LBA'),
    NR: cdwCount(12, 7, 0, 'Number of Ranges'),
    DESFMT: cdw(12, 11, 8, 'Descriptor Format'),
    PRINFOR: cdw(12, 15, 12, 'Protection Information Read'),
    CETYPE: cdw(12, 19, 16, 'Command Extension Type'),
    DTYPE: cdw(12, 23, 20, 'Directive Type'),
    STCW: cdwBit(12, 24, 'Storage Tag Check Write'),
    STCR: cdwBit(12, 25, 'Storage Tag Check Read'),
    PRINFOW: cdw(12, 29, 26, 'Protection Information Write'),
    FUA: cdwBit(12, 30, 'Force Unit Access'),
    LR: cdwBit(12, 31, 'Limited Retry'),
    CEV: cdw(13, 15, 0, 'Command Extension Value'),
    DSPEC: cdw(13, 31, 16, 'Directive Specific'),
    LBTU2: cdw(2, 15, 0, 'Logical Block Tags Upper, bits 47:32'),
    LBTU3: cdw(3, 31, 0, 'Logical Block Tags Upper, bits 31:00'),
    LBTL: cdw(14, 31, 0, 'Logical Block Tags Lower'),
    LBAT: cdw(15, 15, 0, 'Logical Block Application Tag'),
    LBATM: cdw(15, 31, 16, 'Logical Block Application Tag Mask'),
  },
)

/** Beginning of every format, without the namespace. NLB and CETYPE are the rows of RPARS. */
const source = {
  SLBA: n64(8, 'Starting LBA'),
  NLB: count16(16, 'Number of Logical Blocks'),
  CETYPE: dwordBits(16, bits(19, 16, 'Command Extension Type')),
  CEV: u16(20, 'Command Extension Value'),
}

/** Additional fields of formats 2h and 3h: the namespace to copy from. */
const otherNamespace = {
  SNSID: u32(0, 'Source Namespace Identifier'),
  SOPT: u16(22, 'Source Options', { FCO: bit(15, 'Fast Copy Only') }),
}

const tags8 = {
  ELBT: u32(24, 'Expected Logical Block Tags'),
  ELBAT: u16(28, 'Expected Logical Block Application Tag'),
  ELBATM: u16(30, 'Expected Logical Block Application Tag Mask'),
}

const tags16 = {
  ELBT: bytes(26, 10, 'Expected Logical Block Tags'),
  ELBAT: u16(36, 'Expected Logical Block Application Tag'),
  ELBATM: u16(38, 'Expected Logical Block Application Tag Mask'),
}

/** Copy Descriptor Format 0h: 16b guards, the same namespace (NVM 1.2 §3.3.2, Figure 39). */
export const CopyRange0 = struct(
  'Copy Source Range Format 0h',
  { bytes: 32, doc: 'A range to copy, 16b guards', spec: 'NVM 1.2 §3.3.2' },
  merge(source, tags8),
)

/** Copy Descriptor Format 1h: 32b and 64b guards, the same namespace (NVM 1.2 §3.3.2, Figure 40). */
export const CopyRange1 = struct(
  'Copy Source Range Format 1h',
  { bytes: 40, doc: 'A range to copy, 32b or 64b guards', spec: 'NVM 1.2 §3.3.2' },
  merge(source, tags16),
)

/** Copy Descriptor Format 2h: 16b guards, any namespace (NVM 1.2 §3.3.2, Figure 39). */
export const CopyRange2 = struct(
  'Copy Source Range Format 2h',
  { bytes: 32, doc: 'Source range of a namespace, 16b guards', spec: 'NVM 1.2 §3.3.2' },
  merge(otherNamespace, source, tags8),
)

/** Copy Descriptor Format 3h: 32b and 64b guards, any namespace (NVM 1.2 §3.3.2, Figure 40). */
export const CopyRange3 = struct(
  'Copy Source Range Format 3h',
  { bytes: 40, doc: 'Source range of a namespace, long guards', spec: 'NVM 1.2 §3.3.2' },
  merge(otherNamespace, source, tags16),
)

/**
 * Aborts commands of the same submission queue (Base 2.2 §7.1, Figures 557 and 558). ABORTED_CID is the figure's CID,
 * renamed since every entry has a CID of its own; FFFFh for MULTIPLE.
 */
export const Cancel = nvmCommand(
  'Cancel',
  { opcode: 0x18, doc: 'Aborts commands of the same submission queue', spec: 'Base 2.2 §7.1' },
  {
    SQID: cdw(10, 15, 0, 'Submission Queue Identifier'),
    ABORTED_CID: cdw(10, 31, 16, 'Command Identifier'),
    ACODE: cdwOpen(11, 1, 0, 'Action Code', { SINGLE: 0, MULTIPLE: 1 }),
  },
)

/** Dword 0 of the completion of Cancel: number of commands (Base 2.2 §7.1, Figure 560). */
export const CancelDw0 = word32(
  'Cancel.DW0',
  { doc: 'Completion of Cancel', spec: 'Base 2.2 §7.1' },
  {
    CMDA: bits(15, 0, 'Commands Aborted immediately'),
    CEDA: bits(31, 16, 'Commands Eligible for Deferred Abort'),
  },
)

/** Returns information for managing I/O (Base 2.2 §7.3, Figures 561 to 563). */
export const IoManagementReceive = nvmCommand(
  'I/O Management Receive',
  { opcode: 0x12, doc: 'Returns information for managing I/O', spec: 'Base 2.2 §7.3' },
  {
    MO: cdwOpen(10, 7, 0, 'Management Operation', { NO_ACTION: 0, RECLAIM_UNIT_HANDLE_STATUS: 1 }),
    MOS: cdw(10, 31, 16, 'Management Operation Specific'),
    NUMD: cdwCount(11, 31, 0, 'Number of Dwords'),
  },
)

/**
 * Manages I/O (Base 2.2 §7.4, Figures 565 to 568). For RECLAIM_UNIT_HANDLE_UPDATE, MOS is the 0's based number of
 * Placement Identifiers, and the data are these 16-bit identifiers.
 */
export const IoManagementSend = nvmCommand(
  'I/O Management Send',
  { opcode: 0x1d, doc: 'Manages I/O', spec: 'Base 2.2 §7.4' },
  {
    MO: cdwOpen(10, 7, 0, 'Management Operation', { NO_ACTION: 0, RECLAIM_UNIT_HANDLE_UPDATE: 1 }),
    MOS: cdw(10, 31, 16, 'Management Operation Specific'),
  },
)

/** Header before NRUHSD `ReclaimUnitHandleStatusDescriptor` structures (Base 2.2 §7.3.1.1, Figure 564). */
export const ReclaimUnitHandleStatus = struct(
  'Reclaim Unit Handle Status',
  { bytes: 16, doc: 'Header of the list of handles', spec: 'Base 2.2 §7.3.1.1' },
  { NRUHSD: u16(14, 'Number of Reclaim Unit Handle Status Descriptors') },
)

/** Target of a Placement Identifier, in the NVM Command Set (NVM 1.2 §3.2.1.1, Figure 20). */
export const ReclaimUnitHandleStatusDescriptor = struct(
  'Reclaim Unit Handle Status Descriptor',
  { bytes: 32, doc: 'Target of a Placement Identifier', spec: 'NVM 1.2 §3.2.1.1' },
  {
    PID: u16(0, 'Placement Identifier'),
    RUHID: u16(2, 'Reclaim Unit Handle Identifier'),
    EARUTR: u32(4, 'Estimated Active Reclaim Unit Time Remaining, seconds'),
    RUAMW: n64(8, 'Reclaim Unit Available Media Writes in logical blocks'),
  },
)
