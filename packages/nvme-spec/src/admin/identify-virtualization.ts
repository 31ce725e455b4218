import { bit, bits, struct, structs, u16, u32, u8 } from '../layout/index.js'
import { IDENTIFY_BYTES } from './identify.js'

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
