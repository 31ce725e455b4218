import type { CaseMemory } from './memory.js'

/** What a case gives of a submission queue entry; everything else is zero. */
export interface Entry {
  readonly opcode: number
  /** Given out by the host where it is absent. */
  readonly cid?: number
  readonly nsid?: number
  readonly mptr?: number
  readonly prp1?: number
  readonly prp2?: number
  /** Command dwords by number; of 0 only bits 15:8 (FUSE and PSDT) are taken from here. */
  readonly cdw?: Readonly<Record<number, number>>
}

/** A completion queue entry, as its bytes are (Base 2.3 §4.2.1). */
export interface Completed {
  readonly dw0: number
  readonly dw1: number
  readonly sqhd: number
  readonly sqid: number
  readonly cid: number
  readonly phase: number
  /** SCT in hex, a slash, SC in hex: '0/00' is success. */
  readonly status: string
  readonly more: boolean
  readonly dnr: boolean
  /** The command in words, for messages; of a completion that nobody waited for, what it says of itself. */
  readonly asked: string
}

export const SQE_BYTES = 64
export const CQE_BYTES = 16

/** Writes the 64 bytes of an entry (Base 2.3 §4.1.1). */
export function writeEntry(memory: CaseMemory, at: number, entry: Entry, cid: number): void {
  const bytes = new Uint8Array(SQE_BYTES)
  const view = new DataView(bytes.buffer)
  const { opcode, nsid = 0, mptr = 0, prp1 = 0, prp2 = 0, cdw = {} } = entry
  for (const [dword, value] of Object.entries(cdw)) view.setUint32(Number(dword) * 4, value >>> 0, true)
  view.setUint32(0, (((cdw[0] ?? 0) & 0xff00) | opcode | (cid << 16)) >>> 0, true)
  view.setUint32(4, nsid, true)
  if (mptr !== 0) view.setBigUint64(16, BigInt(mptr), true)
  if (prp1 !== 0) view.setBigUint64(24, BigInt(prp1), true)
  if (prp2 !== 0) view.setBigUint64(32, BigInt(prp2), true)
  memory.write(at, bytes)
}

/** The 16 bytes of a completion. */
export function readCompletion(bytes: Uint8Array, asked: (sqid: number, cid: number) => string): Completed {
  const view = new DataView(bytes.buffer, bytes.byteOffset, CQE_BYTES)
  const dw3 = view.getUint32(12, true)
  const sqid = view.getUint16(10, true)
  const cid = dw3 & 0xffff
  return {
    dw0: view.getUint32(0, true),
    dw1: view.getUint32(4, true),
    sqhd: view.getUint16(8, true),
    sqid,
    cid,
    phase: (dw3 >>> 16) & 1,
    status: `${((dw3 >>> 25) & 7).toString(16)}/${((dw3 >>> 17) & 0xff).toString(16).padStart(2, '0')}`,
    more: ((dw3 >>> 30) & 1) === 1,
    dnr: dw3 >>> 31 === 1,
    asked: asked(sqid, cid),
  }
}

/** A command in words: 'Admin command 05h with CDW10 3f0001h, CDW11 1h'. */
export function describe(qid: number, { opcode, nsid, prp1, prp2, cdw = {} }: Entry): string {
  const fields = [
    ...Object.entries({ NSID: nsid, PRP1: prp1, PRP2: prp2 }),
    ...Object.entries(cdw).map(([dword, value]) => [`CDW${dword}`, value >>> 0] as const),
  ].filter((field): field is [string, number] => field[1] !== undefined)
  const where = qid === 0 ? 'Admin command' : `SQ ${qid}: command`
  const values = fields.map(([name, value]) => `${name} ${value.toString(16)}h`).join(', ')
  return `${where} ${opcode.toString(16).padStart(2, '0')}h${values && ` with ${values}`}`
}
