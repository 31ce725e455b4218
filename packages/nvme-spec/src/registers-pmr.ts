import { bit, bits, register32 } from './layout/index.js'

// The Persistent Memory Region: 0h or reserved unless CAP.PMRS is 1. Base 2.1's pages of the last four registers could
// not be read: they cite Base 2.2, whose figures have the same numbers.

/** Persistent Memory Region Capabilities (Base 2.1 Figure 58). */
export const PMRCAP = register32(
  'PMRCAP',
  { offset: 0xe00, access: 'ro', doc: 'PMR Capabilities', spec: 'Base 2.1 §3.1.4.22' },
  {
    RDS: bit(3, 'Read Data Support'),
    WDS: bit(4, 'Write Data Support'),
    BIR: bits(7, 5, 'Base Indicator Register: index of the BAR'),
    PMRTU: bits(9, 8, 'PMR Time Units', { MS_500: 0, MINUTES: 1 }),
    PMRWBM_CMR: bit(10, 'Write Barrier: Completion of Memory Read'),
    PMRWBM_CPMTSTSR: bit(11, 'Write Barrier: Completion of PMRSTS Read'),
    PMRTO: bits(23, 16, 'PMR Timeout, in PMRTU'),
    CMSS: bit(24, 'Controller Memory Space Supported'),
  },
)

/** Persistent Memory Region Control (Base 2.1 Figure 59). */
export const PMRCTL = register32(
  'PMRCTL',
  { offset: 0xe04, access: 'rw', doc: 'PMR Control', spec: 'Base 2.1 §3.1.4.23' },
  { EN: bit(0, 'Enable') },
)

/** Persistent Memory Region Status (Base 2.1 Figure 60). */
export const PMRSTS = register32(
  'PMRSTS',
  { offset: 0xe08, access: 'ro', doc: 'PMR Status', spec: 'Base 2.1 §3.1.4.24' },
  {
    ERR: bits(7, 0, 'Error: vendor specific if not 0'),
    NRDY: bit(8, 'Not Ready'),
    HSTS: bits(11, 9, 'Health Status', { NORMAL: 0, RESTORE_ERROR: 1, READ_ONLY: 2, UNRELIABLE: 3 }),
    CBAI: bit(12, 'Controller Base Address Invalid'),
  },
)

/** Persistent Memory Region Elasticity Buffer Size (Base 2.2 Figure 61); 0h reports nothing. */
export const PMREBS = register32(
  'PMREBS',
  { offset: 0xe0c, access: 'ro', doc: 'PMR Elasticity Buffer Size', spec: 'Base 2.2 §3.1.4.25' },
  {
    PMRSZU: bits(3, 0, 'PMR Elasticity Buffer Size Units', { BYTES: 0, KIB: 1, MIB: 2, GIB: 3 }),
    PMRRBB: bit(4, 'PMR Read Bypass Behavior'),
    PMRWBZ: bits(31, 8, 'PMR Elasticity Buffer Size Base, in PMRSZU'),
  },
)

/** Persistent Memory Region Sustained Write Throughput (Base 2.2 Figure 62); 0h reports nothing. */
export const PMRSWTP = register32(
  'PMRSWTP',
  {
    offset: 0xe10,
    access: 'ro',
    doc: 'PMR Sustained Write Throughput',
    spec: 'Base 2.2 §3.1.4.26',
  },
  {
    PMRSWTU: bits(3, 0, 'PMR Sustained Write Throughput Units', { BYTES: 0, KIB: 1, MIB: 2, GIB: 3 }),
    PMRSWTV: bits(31, 8, 'PMR Sustained Write Throughput, in PMRSWTU per second'),
  },
)

/** Persistent Memory Region Memory Space Control Lower (Base 2.2 Figure 63); accessed by aligned 32 bits. */
export const PMRMSCL = register32(
  'PMRMSCL',
  {
    offset: 0xe14,
    access: 'rw',
    doc: 'PMR Memory Space Control Lower',
    spec: 'Base 2.2 §3.1.4.27',
  },
  {
    CMSE: bit(1, 'Controller Memory Space Enable'),
    CBA: bits(31, 12, 'Controller Base Address: address bits 31:12'),
  },
)

/** Persistent Memory Region Memory Space Control Upper (Base 2.2 Figure 64); accessed by aligned 32 bits. */
export const PMRMSCU = register32(
  'PMRMSCU',
  {
    offset: 0xe18,
    access: 'rw',
    doc: 'PMR Memory Space Control Upper',
    spec: 'Base 2.2 §3.1.4.28',
  },
  { CBA: bits(31, 0, 'Controller Base Address: address bits 63:32') },
)
