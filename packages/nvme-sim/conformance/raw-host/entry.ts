/** Fields of a submission queue entry; every other field is zero. */
export interface Entry {
  readonly opcode: number
  /** Command identifier. Default: assigned by the host. */
  readonly cid?: number
  readonly nsid?: number
  readonly mptr?: number
  readonly prp1?: number
  readonly prp2?: number
  /** Command dwords by number. Of dword 0, only bits 15:8 (FUSE and PSDT) are used. */
  readonly cdw?: Readonly<Record<number, number>>
}

/** A completion queue entry (Base 2.3 §4.2.1). */
export interface Completion {
  readonly dw0: number
  readonly dw1: number
  readonly sqhd: number
  readonly sqid: number
  readonly cid: number
  readonly phase: number
  /** SCT in hexadecimal, a slash, SC in hexadecimal: '0/00' is success. */
  readonly status: string
  readonly crd: number
  readonly more: boolean
  readonly dnr: boolean
}

export const SQE_BYTES = 64
export const CQE_BYTES = 16

/** Writes the 64 bytes of a submission queue entry (Base 2.3 §4.1.1). */
export function writeEntry(view: DataView, at: number, entry: Entry, cid: number): void {
  const { opcode, nsid = 0, mptr = 0, prp1 = 0, prp2 = 0, cdw = {} } = entry
  for (let offset = 0; offset < SQE_BYTES; offset += 4) view.setUint32(at + offset, 0, true)
  for (const [dword, value] of Object.entries(cdw)) view.setUint32(at + Number(dword) * 4, value >>> 0, true)
  view.setUint32(at, (((cdw[0] ?? 0) & 0xff00) | opcode | (cid << 16)) >>> 0, true)
  view.setUint32(at + 4, nsid, true)
  if (mptr !== 0) view.setBigUint64(at + 16, BigInt(mptr), true)
  if (prp1 !== 0) view.setBigUint64(at + 24, BigInt(prp1), true)
  if (prp2 !== 0) view.setBigUint64(at + 32, BigInt(prp2), true)
}

/** Decodes the 16 bytes of a completion queue entry. */
export function readCompletion(view: DataView, at: number): Completion {
  const dw3 = view.getUint32(at + 12, true)
  return {
    dw0: view.getUint32(at, true),
    dw1: view.getUint32(at + 4, true),
    sqhd: view.getUint16(at + 8, true),
    sqid: view.getUint16(at + 10, true),
    cid: dw3 & 0xffff,
    phase: (dw3 >>> 16) & 1,
    status: statusOf(dw3),
    crd: (dw3 >>> 28) & 3,
    more: ((dw3 >>> 30) & 1) === 1,
    dnr: dw3 >>> 31 === 1,
  }
}

/** Returns SCT and SC of DW3: '0/00' is success. */
export function statusOf(dw3: number): string {
  return `${((dw3 >>> 25) & 7).toString(16)}/${((dw3 >>> 17) & 0xff).toString(16).padStart(2, '0')}`
}

/** Returns Create I/O Completion Queue (05h). CDW11 is PC by default, without interrupts. */
export function createCqEntry(qid: number, entries: number, prp1: number, cdw11 = 1): Entry {
  return { opcode: 0x05, prp1, cdw: { 10: qid | ((entries - 1) << 16), 11: cdw11 } }
}

/** Returns Create I/O Submission Queue (01h), physically contiguous. */
export function createSqEntry(qid: number, entries: number, cqid: number, prp1: number): Entry {
  return { opcode: 0x01, prp1, cdw: { 10: qid | ((entries - 1) << 16), 11: 1 | (cqid << 16) } }
}

/** Returns a Read (02h), Write (01h) or other command of the same layout, for `blocks` blocks from `slba`. */
export function transfer(
  opcode: number,
  slba: number,
  blocks: number,
  [prp1, prp2]: readonly [number, number],
  nsid = 1,
): Entry {
  return { opcode, nsid, prp1, prp2, cdw: { 10: slba % 2 ** 32, 11: Math.floor(slba / 2 ** 32), 12: blocks - 1 } }
}
