import {
  adminCommand,
  bit,
  bits,
  cdw,
  cdw64,
  cdwCount,
  count32,
  inHex,
  n64,
  oneOf,
  struct,
  u16,
  u16Array,
  u32,
  u64,
  u8,
  word32,
} from '../layout/index.js'
import { IdentifyNamespace } from '../nvm/identify.js'

/** Creates or deletes a namespace (Base 2.1 §5.1.21, Figures 367 and 368). */
export const NamespaceManagement = adminCommand(
  'Namespace Management',
  { opcode: 0x0d, doc: 'Creates or deletes a namespace', spec: 'Base 2.1 §5.1.21' },
  {
    SEL: cdw(10, 3, 0, 'Select', { CREATE: 0, DELETE: 1 }),
    CSI: cdw(11, 31, 24, 'Command Set Identifier of the created namespace'),
  },
)

/** Dword 0 of the completion of a create operation (Base 2.1 §5.1.21.1, Figure 371). */
export const NamespaceManagementDw0 = word32(
  'Namespace Management.DW0',
  { doc: 'Identifier of the created namespace', spec: 'Base 2.1 §5.1.21.1' },
  { NSID: bits(31, 0, 'Namespace Identifier') },
)

/**
 * Data of a create operation, for a namespace of the NVM Command Set (NVM 1.2 §4.1.6, Figure 125). The four fields from
 * ZNSCO on are those of a zoned namespace (libnvme 1.16 `nvme_ns_mgmt_host_sw_specified`).
 */
export const NamespaceToCreate = struct(
  'Namespace Management host specified fields',
  { bytes: 4096, doc: 'Properties of the namespace to create', spec: 'NVM 1.2 §4.1.6' },
  {
    NSZE: n64(0, 'Namespace Size in logical blocks'),
    NCAP: n64(8, 'Namespace Capacity in logical blocks'),
    FLBAS: u8(26, 'Formatted LBA Size', IdentifyNamespace.fields.FLBAS.rows),
    DPS: u8(29, 'End-to-end Data Protection Type Settings', IdentifyNamespace.fields.DPS.rows),
    NMIC: u8(30, 'Namespace Multi-path I/O and Namespace Sharing Capabilities', IdentifyNamespace.fields.NMIC.rows),
    ANAGRPID: u32(92, 'ANA Group Identifier'),
    NVMSETID: u16(100, 'NVM Set Identifier'),
    ENDGID: u16(102, 'Endurance Group Identifier'),
    LBSTM: inHex(u64(384, 'Logical Block Storage Tag Mask')),
    NPHNDLS: u16(392, 'Number of Placement Handles'),
    ZNSCO: u8(499, 'Zoned Namespace Create Options', { AZR: bit(0, 'Allocate ZRWA Resources') }),
    RAR: u32(500, 'Requested Active Resources'),
    ROR: u32(504, 'Requested Open Resources'),
    RNUMZRWA: u32(508, 'Requested Number of ZRWA Resources'),
    PHNDL: u16Array(512, 128, 'Reclaim Unit Handle of each Placement Handle'),
  },
)

/**
 * Attaches the controllers of a Controller List to a namespace, or detaches them (Base 2.1 §5.1.20; bits and values of
 * SEL also in Base 2.3 §5.2.20).
 */
export const NamespaceAttachment = adminCommand(
  'Namespace Attachment',
  { opcode: 0x15, doc: 'Attaches or detaches controllers', spec: 'Base 2.1 §5.1.20' },
  { SEL: cdw(10, 3, 0, 'Select', { CONTROLLER_ATTACH: 0, CONTROLLER_DETACH: 1 }) },
)

/** Creates and deletes Endurance Groups and NVM Sets (Base 2.1 §5.1.3, Figures 156 to 158). */
export const CapacityManagement = adminCommand(
  'Capacity Management',
  { opcode: 0x20, doc: 'Manages capacity', spec: 'Base 2.1 §5.1.3' },
  {
    OPER: cdw(10, 3, 0, 'Operation', {
      SELECT_CAPACITY_CONFIGURATION: 0,
      CREATE_ENDURANCE_GROUP: 1,
      DELETE_ENDURANCE_GROUP: 2,
      CREATE_NVM_SET: 3,
      DELETE_NVM_SET: 4,
    }),
    ELID: cdw(10, 31, 16, 'Element Identifier'),
    CAPL: cdw(11, 31, 0, 'Capacity Lower: bits 31:0 of the bytes'),
    CAPU: cdw(12, 31, 0, 'Capacity Upper: bits 63:32 of the bytes'),
  },
)

/** Dword 0 of the completion of a create operation (Base 2.1 §5.1.3.4, Figure 160). */
export const CapacityManagementDw0 = word32(
  'Capacity Management.DW0',
  { doc: 'Identifier of the created element', spec: 'Base 2.1 §5.1.3.4' },
  { CELID: bits(15, 0, 'Created Element Identifier') },
)

/** Assigns flexible resources and sets secondary controllers online or offline (Base 2.1 §5.2.6, Figures 489, 490). */
export const VirtualizationManagement = adminCommand(
  'Virtualization Management',
  { opcode: 0x1c, doc: 'Manages controller resources', spec: 'Base 2.1 §5.2.6' },
  {
    ACT: cdw(10, 3, 0, 'Action', {
      PRIMARY_FLEXIBLE_ALLOCATION: 0x1,
      SECONDARY_OFFLINE: 0x7,
      SECONDARY_ASSIGN: 0x8,
      SECONDARY_ONLINE: 0x9,
    }),
    RT: cdw(10, 10, 8, 'Resource Type', { VQ: 0, VI: 1 }),
    CNTLID: cdw(10, 31, 16, 'Controller Identifier'),
    NR: cdw(11, 15, 0, 'Number of Controller Resources'),
  },
)

/** Returns which logical blocks are allocated, or may be unrecoverable (NVM 1.2 §4.2.1, Figures 127 to 130). */
export const GetLbaStatus = adminCommand(
  'Get LBA Status',
  { opcode: 0x86, doc: 'Reports the status of LBAs', spec: 'NVM 1.2 §4.2.1' },
  {
    SLBA: cdw64(10, 'Starting LBA'),
    MNDW: cdwCount(12, 31, 0, 'Maximum Number of Dwords'),
    RL: cdw(13, 15, 0, 'Range Length in logical blocks; 0 for up to the end'),
    ATYPE: cdw(13, 31, 24, 'Action Type', { ALLOCATED: 0x02, SCAN: 0x10, TRACKED: 0x11 }),
  },
)

/** Header of the returned list; NLSD entries follow (NVM 1.2 §4.2.1.2, Figure 131). */
export const LbaStatusDescriptorList = struct(
  'LBA Status Descriptor List',
  { bytes: 8, doc: 'LBA Status header', spec: 'NVM 1.2 §4.2.1.2' },
  {
    NLSD: u32(0, 'Number of LBA Status Descriptors'),
    CMPC: oneOf(u8(4, 'Completion Condition'), { NOT_INDICATED: 0, INCOMPLETE: 1, COMPLETE: 2 }),
  },
)

/** An entry of the list: a range of logical blocks (NVM 1.2 §4.2.1.2, Figure 132). */
export const LbaStatusDescriptor = struct(
  'LBA Status Descriptor Entry',
  { bytes: 16, doc: 'A range of logical blocks and its status', spec: 'NVM 1.2 §4.2.1.2' },
  {
    DSLBA: n64(0, 'Descriptor Starting LBA'),
    NLB: count32(8, 'Number of Logical Blocks'),
    STAS: u8(13, 'Status', {
      LBARS: bits(2, 0, 'LBA Range Status', {
        MAY_BE_UNRECOVERABLE: 0,
        UNRECOVERABLE: 1,
        ALLOCATED: 2,
        WRITTEN_UNCORRECTABLE: 3,
      }),
    }),
  },
)
