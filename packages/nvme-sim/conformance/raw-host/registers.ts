// Register offsets and bits as numbered by the specification's figures (Base 2.3 §3.1.4). The raw host shares no
// declaration with the simulator or the drivers under test, so that a wrong declaration fails a test.

export const CAP = 0x00
export const VS = 0x08
export const INTMS = 0x0c
export const INTMC = 0x10
export const CC = 0x14
export const CSTS = 0x1c
export const NSSR = 0x20
export const AQA = 0x24
export const ASQ = 0x28
export const ACQ = 0x30

/** CC.EN, and CSTS.RDY and CSTS.CFS. */
export const EN = 1
export const RDY = 1
export const CFS = 2

/** CC: EN, CSS = NVM, MPS = 4 KiB, IOSQES = 6 (64 bytes), IOCQES = 4 (16 bytes). */
export const CC_ENABLED = 0x0046_0001

/** Returns bits `msb` to `lsb` of a 64-bit register. */
export function bits(value: bigint, msb: number, lsb: number): number {
  return Number((value >> BigInt(lsb)) & ((1n << BigInt(msb - lsb + 1)) - 1n))
}

/** Offset of SQyTDBL; the stride is 4 bytes << CAP.DSTRD. */
export function tailDoorbell(qid: number, strideBytes: number): number {
  return 0x1000 + 2 * qid * strideBytes
}

/** Offset of CQyHDBL. */
export function headDoorbell(qid: number, strideBytes: number): number {
  return 0x1000 + (2 * qid + 1) * strideBytes
}
