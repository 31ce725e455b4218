import {
  adminCommand,
  bit,
  bits,
  cdw,
  inHex,
  n64,
  struct,
  u16,
  u16Array,
  u32,
  u64,
  u8,
  word32,
} from '../layout/index.js'
import { IdentifyNamespace } from '../nvm/identify-namespace.js'

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
 * Attaches the controllers of a Controller List to a namespace, or detaches them (Base 2.1 §5.1.20). The bits and
 * values of SEL are those of libnvme 1.16 `NVME_NAMESPACE_ATTACH_CDW10_SEL_SHIFT`, `nvme_ns_attach_sel`.
 */
export const NamespaceAttachment = adminCommand(
  'Namespace Attachment',
  { opcode: 0x15, doc: 'Attaches or detaches controllers', spec: 'Base 2.1 §5.1.20' },
  { SEL: cdw(10, 3, 0, 'Select', { CONTROLLER_ATTACH: 0, CONTROLLER_DETACH: 1 }) },
)
