import { bit, bits, count, register32, register64, wideBits, type AnyRegister } from './layout/index.js'
import { BPINFO, BPMBL, BPRSEL } from './registers-boot.js'
import { CMBEBS, CMBLOC, CMBMSC, CMBSTS, CMBSWTP, CMBSZ } from './registers-cmb.js'
import { PMRCAP, PMRCTL, PMREBS, PMRMSCL, PMRMSCU, PMRSTS, PMRSWTP } from './registers-pmr.js'

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
