import { bit, bits, register32, register64, wideBits } from './layout/index.js'

// The Controller Memory Buffer (Base 2.1 §8.2.1): reserved, or 0h, unless CAP.CMBS is 1.

/** Controller Memory Buffer Location (Base 2.1 Figure 47): 0h until CMBMSC.CRE is 1. */
export const CMBLOC = register32(
  'CMBLOC',
  { offset: 0x38, access: 'ro', doc: 'CMB Location', spec: 'Base 2.1 §3.1.4.11' },
  {
    BIR: bits(2, 0, 'Base Indicator Register: index of the BAR'),
    CQMMS: bit(3, 'CMB Queue Mixed Memory Support'),
    CQPDS: bit(4, 'CMB Queue Physically Discontiguous Support'),
    CDPMLS: bit(5, 'CMB Data Pointer Mixed Locations Support'),
    CDPCILS: bit(6, 'CMB Data Pointer and Command Independent Locations Support'),
    CDMMMS: bit(7, 'CMB Data Metadata Mixed Memory Support'),
    CQDA: bit(8, 'CMB Queue Dword Alignment'),
    OFST: bits(31, 12, 'Offset in the BAR, in CMBSZ.SZU'),
  },
)

/** Controller Memory Buffer Size (Base 2.1 Figure 48): 0h until CMBMSC.CRE is 1. */
export const CMBSZ = register32(
  'CMBSZ',
  { offset: 0x3c, access: 'ro', doc: 'CMB Size', spec: 'Base 2.1 §3.1.4.12' },
  {
    SQS: bit(0, 'Submission Queue Support'),
    CQS: bit(1, 'Completion Queue Support'),
    LISTS: bit(2, 'PRP SGL List Support'),
    RDS: bit(3, 'Read Data Support'),
    WDS: bit(4, 'Write Data Support'),
    SZU: bits(11, 8, 'Size Units: 4 KiB * 16 ^ SZU', {
      KIB_4: 0,
      KIB_64: 1,
      MIB_1: 2,
      MIB_16: 3,
      MIB_256: 4,
      GIB_4: 5,
      GIB_64: 6,
    }),
    SZ: bits(31, 12, 'Size, in SZU'),
  },
)

/** Controller Memory Buffer Memory Space Control (Base 2.1 Figure 52). */
export const CMBMSC = register64(
  'CMBMSC',
  { offset: 0x50, access: 'rw', doc: 'CMB Memory Space Control', spec: 'Base 2.1 §3.1.4.16' },
  {
    CRE: bit(0, 'Capabilities Registers Enabled: CMBLOC and CMBSZ'),
    CMSE: bit(1, 'Controller Memory Space Enable'),
    CBA: wideBits(63, 12, 'Controller Base Address: address bits 63:12'),
  },
)

/** Controller Memory Buffer Status (Base 2.1 Figure 53). */
export const CMBSTS = register32(
  'CMBSTS',
  { offset: 0x58, access: 'ro', doc: 'CMB Status', spec: 'Base 2.1 §3.1.4.17' },
  { CBAI: bit(0, 'Controller Base Address Invalid') },
)

/** Controller Memory Buffer Elasticity Buffer Size (Base 2.1 Figure 54); 0h reports nothing. */
export const CMBEBS = register32(
  'CMBEBS',
  { offset: 0x5c, access: 'ro', doc: 'CMB Elasticity Buffer Size', spec: 'Base 2.1 §3.1.4.18' },
  {
    CMBSZU: bits(3, 0, 'CMB Elasticity Buffer Size Units', { BYTES: 0, KIB: 1, MIB: 2, GIB: 3 }),
    CMBRBB: bit(4, 'CMB Read Bypass Behavior'),
    CMBWBZ: bits(31, 8, 'CMB Elasticity Buffer Size Base, in CMBSZU'),
  },
)

/** Controller Memory Buffer Sustained Write Throughput (Base 2.1 Figure 55); 0h reports nothing. */
export const CMBSWTP = register32(
  'CMBSWTP',
  {
    offset: 0x60,
    access: 'ro',
    doc: 'CMB Sustained Write Throughput',
    spec: 'Base 2.1 §3.1.4.19',
  },
  {
    CMBSWTU: bits(3, 0, 'CMB Sustained Write Throughput Units', { BYTES: 0, KIB: 1, MIB: 2, GIB: 3 }),
    CMBSWTV: bits(31, 8, 'CMB Sustained Write Throughput, in CMBSWTU per second'),
  },
)
