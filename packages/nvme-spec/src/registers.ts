import { type AnyRegister, bit, bits, count, register32, register64, wideBits } from './layout/index.js'

// Boot Partitions (Base 2.1 §8.1.3): 0h unless CAP.BPS is 1.

/** Boot Partition Information (Base 2.1 Figure 49). */
export const BPINFO = register32(
  'BPINFO',
  { offset: 0x40, access: 'ro', doc: 'Boot Partition Information', spec: 'Base 2.1 §3.1.4.13' },
  {
    BPSZ: bits(14, 0, 'Boot Partition Size, in 128 KiB units'),
    BRS: bits(25, 24, 'Boot Read Status', { NONE: 0, IN_PROGRESS: 1, SUCCESS: 2, ERROR: 3 }),
    ABPID: bit(31, 'Active Boot Partition ID'),
  },
)

/** Boot Partition Read Select (Base 2.1 Figure 50): writing it starts a read into the memory of BPMBL. */
export const BPRSEL = register32(
  'BPRSEL',
  { offset: 0x44, access: 'rw', doc: 'Boot Partition Read Select', spec: 'Base 2.1 §3.1.4.14' },
  {
    BPRSZ: bits(9, 0, 'Read Size, in 4 KiB units'),
    BPROF: bits(29, 10, 'Read Offset, in 4 KiB units'),
    BPID: bit(31, 'Boot Partition Identifier'),
  },
)

/** Boot Partition Memory Buffer Location (Base 2.1 Figure 51). */
export const BPMBL = register64(
  'BPMBL',
  { offset: 0x48, access: 'rw', doc: 'Boot Partition Memory Buffer Location', spec: 'Base 2.1 §3.1.4.15' },
  { BMBBA: wideBits(63, 12, 'Base Address: address bits 63:12') },
)

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

// The controller properties of Base 2.1 §3.1.4, in offset order.

export const CAP = register64(
  'CAP',
  { offset: 0x00, access: 'ro', doc: 'Controller Capabilities', spec: 'Base 2.1 §3.1.4.1' },
  {
    MQES: count(15, 0, 'Maximum Queue Entries Supported'),
    CQR: bit(16, 'Contiguous Queues Required'),
    AMS_WRRUPC: bit(17, 'Arbitration: Weighted Round Robin with Urgent Priority Class'),
    AMS_VS: bit(18, 'Arbitration: Vendor Specific'),
    TO: bits(31, 24, 'Timeout for CSTS.RDY to follow CC.EN, in 500 ms units'),
    DSTRD: bits(35, 32, 'Doorbell Stride: 2 ^ (2 + DSTRD) bytes'),
    NSSRS: bit(36, 'NVM Subsystem Reset Supported'),
    CSS_NCSS: bit(37, 'NVM Command Set Support'),
    CSS_IOCSS: bit(43, 'I/O Command Set Support: Identify I/O Command Set supported'),
    CSS_NOIOCSS: bit(44, 'No I/O Command Set Support: Admin commands only'),
    BPS: bit(45, 'Boot Partition Support'),
    CPS: bits(47, 46, 'Controller Power Scope', { NOT_REPORTED: 0, CONTROLLER: 1, DOMAIN: 2, NVM_SUBSYSTEM: 3 }),
    MPSMIN: bits(51, 48, 'Memory Page Size Minimum: 2 ^ (12 + MPSMIN) bytes'),
    MPSMAX: bits(55, 52, 'Memory Page Size Maximum: 2 ^ (12 + MPSMAX) bytes'),
    PMRS: bit(56, 'Persistent Memory Region Supported'),
    CMBS: bit(57, 'Controller Memory Buffer Supported'),
    NSSS: bit(58, 'NVM Subsystem Shutdown Supported'),
    CRWMS: bit(59, 'Controller Ready With Media Support'),
    CRIMS: bit(60, 'Controller Ready Independent of Media Support'),
    NSSES: bit(61, 'NVM Subsystem Shutdown Enhancements Supported'),
  },
)

export const VS = register32(
  'VS',
  { offset: 0x08, access: 'ro', doc: 'Version', spec: 'Base 2.1 §3.1.4.2' },
  {
    TER: bits(7, 0, 'Tertiary Version'),
    MNR: bits(15, 8, 'Minor Version'),
    MJR: bits(31, 16, 'Major Version'),
  },
)

export const INTMS = register32(
  'INTMS',
  { offset: 0x0c, access: 'rw1s', doc: 'Interrupt Mask Set', spec: 'Base 2.1 §3.1.4.3' },
  { IVMS: bits(31, 0, 'Interrupt Vector Mask Set') },
)

export const INTMC = register32(
  'INTMC',
  { offset: 0x10, access: 'rw1c', doc: 'Interrupt Mask Clear', spec: 'Base 2.1 §3.1.4.4' },
  { IVMC: bits(31, 0, 'Interrupt Vector Mask Clear') },
)

export const CC = register32(
  'CC',
  { offset: 0x14, access: 'rw', doc: 'Controller Configuration', spec: 'Base 2.1 §3.1.4.5' },
  {
    EN: bit(0, 'Enable'),
    CSS: bits(6, 4, 'I/O Command Set Selected', { NVM: 0, IOCS: 6, ADMIN_ONLY: 7 }),
    MPS: bits(10, 7, 'Memory Page Size: 2 ^ (12 + MPS) bytes'),
    AMS: bits(13, 11, 'Arbitration Mechanism Selected', { ROUND_ROBIN: 0, WRRUPC: 1, VENDOR: 7 }),
    SHN: bits(15, 14, 'Shutdown Notification', { NONE: 0, NORMAL: 1, ABRUPT: 2 }),
    IOSQES: bits(19, 16, 'I/O Submission Queue Entry Size: 2 ^ n bytes'),
    IOCQES: bits(23, 20, 'I/O Completion Queue Entry Size: 2 ^ n bytes'),
    CRIME: bit(24, 'Controller Ready Independent of Media Enable'),
  },
)

export const CSTS = register32(
  'CSTS',
  { offset: 0x1c, access: 'rw1c', doc: 'Controller Status; only NSSRO is writable', spec: 'Base 2.1 §3.1.4.6' },
  {
    RDY: bit(0, 'Ready'),
    CFS: bit(1, 'Controller Fatal Status'),
    SHST: bits(3, 2, 'Shutdown Status', { NORMAL: 0, OCCURRING: 1, COMPLETE: 2 }),
    NSSRO: bit(4, 'NVM Subsystem Reset Occurred; writing 1 clears it'),
    PP: bit(5, 'Processing Paused'),
    ST: bit(6, 'Shutdown Type: 1 if SHST refers to the NVM subsystem'),
  },
)

export const NSSR = register32(
  'NSSR',
  { offset: 0x20, access: 'rw', doc: 'NVM Subsystem Reset', spec: 'Base 2.1 §3.1.4.7' },
  { NSSRC: bits(31, 0, 'NVM Subsystem Reset Control', { RESET: 0x4e56_4d65 }) },
)

export const AQA = register32(
  'AQA',
  { offset: 0x24, access: 'rw', doc: 'Admin Queue Attributes', spec: 'Base 2.1 §3.1.4.8' },
  {
    ASQS: count(11, 0, 'Admin Submission Queue Size'),
    ACQS: count(27, 16, 'Admin Completion Queue Size'),
  },
)

export const ASQ = register64(
  'ASQ',
  { offset: 0x28, access: 'rw', doc: 'Admin Submission Queue Base Address', spec: 'Base 2.1 §3.1.4.9' },
  { ASQB: wideBits(63, 12, 'Admin Submission Queue Base: address bits 63:12') },
)

export const ACQ = register64(
  'ACQ',
  { offset: 0x30, access: 'rw', doc: 'Admin Completion Queue Base Address', spec: 'Base 2.1 §3.1.4.10' },
  { ACQB: wideBits(63, 12, 'Admin Completion Queue Base: address bits 63:12') },
)

/** NVM Subsystem Shutdown (Base 2.1 Figure 56): reserved unless CAP.NSSS is 1; reads 0h. */
export const NSSD = register32(
  'NSSD',
  { offset: 0x64, access: 'rw', doc: 'NVM Subsystem Shutdown', spec: 'Base 2.1 §3.1.4.20' },
  { NSSC: bits(31, 0, 'NVM Subsystem Shutdown Control', { NORMAL: 0x4e72_6d6c, ABRUPT: 0x4162_7074 }) },
)

export const CRTO = register32(
  'CRTO',
  { offset: 0x68, access: 'ro', doc: 'Controller Ready Timeouts', spec: 'Base 2.1 §3.1.4.21' },
  {
    CRWMT: bits(15, 0, 'Controller Ready With Media Timeout, in 500 ms units'),
    CRIMT: bits(31, 16, 'Controller Ready Independent of Media Timeout, in 500 ms units'),
  },
)

/**
 * All registers except doorbells, in offset order. Those of the Controller Memory Buffer, Boot Partitions, the
 * Persistent Memory Region and the NVM Subsystem Shutdown are optional: CAP reports whether a controller has them.
 */
export const registers = [
  CAP,
  VS,
  INTMS,
  INTMC,
  CC,
  CSTS,
  NSSR,
  AQA,
  ASQ,
  ACQ,
  CMBLOC,
  CMBSZ,
  BPINFO,
  BPRSEL,
  BPMBL,
  CMBMSC,
  CMBSTS,
  CMBEBS,
  CMBSWTP,
  NSSD,
  CRTO,
  PMRCAP,
  PMRCTL,
  PMRSTS,
  PMREBS,
  PMRSWTP,
  PMRMSCL,
  PMRMSCU,
] as const

/**
 * Returns the registers of a controller in offset order, without those of optional features that CAP does not report,
 * which are reserved (Base 2.1 §3.1.4). `cap` is the raw register.
 */
export function registersOf(cap: bigint): readonly AnyRegister[] {
  const optional: readonly (readonly [{ of(raw: bigint): number }, readonly AnyRegister[]])[] = [
    [CAP.NSSRS, [NSSR]],
    [CAP.CMBS, [CMBLOC, CMBSZ, CMBMSC, CMBSTS, CMBEBS, CMBSWTP]],
    [CAP.BPS, [BPINFO, BPRSEL, BPMBL]],
    [CAP.NSSS, [NSSD]],
    [CAP.PMRS, [PMRCAP, PMRCTL, PMRSTS, PMREBS, PMRSWTP, PMRMSCL, PMRMSCU]],
  ]
  const missing = new Set(optional.flatMap(([supported, those]) => (supported.of(cap) === 0 ? those : [])))
  return registers.filter((register) => !missing.has(register))
}

/** Returns the register that contains the byte at `offset` of BAR0; undefined if none is declared. */
export function registerAt(offset: number): AnyRegister | undefined {
  return registers.find((each) => offset >= each.offset && offset < each.offset + each.widthBits / 8)
}

/**
 * Returns a name for an access at `offset` of BAR0: `CSTS`, `ASQ upper half`, or the offset (`0x18`) if nothing is
 * declared.
 */
export function registerNameAt(offset: number): string {
  const register = registerAt(offset)
  if (register?.offset === offset) return register.name
  return register?.offset === offset - 4 ? `${register.name} upper half` : hex(offset)
}

/**
 * Formats a value read or written at `offset` of BAR0; a number is 32 bits, a bigint 64. A whole register is shown with
 * its fields, `CSTS=0x00000001 { RDY=1 … }`, anything else as `0x1`.
 */
export function formatRegisterAt(offset: number, value: number | bigint): string {
  const register = registerAt(offset)
  const isWhole = register?.offset === offset && register.widthBits === (typeof value === 'bigint' ? 64 : 32)
  return isWhole ? register.format(value) : hex(value)
}

function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}
