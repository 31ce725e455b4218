import type { Bar, DmaAllocator } from '@gpunvme/nvme-spec/transport'
import { Region } from './region.js'

/** A completion queue entry, as the host reads it. */
export interface Entry {
  readonly dw0: number
  readonly dw1: number
  readonly sqhd: number
  readonly sqid: number
  readonly cid: number
  /** SCT in hex, a slash, SC in hex: '0/00' is success. */
  readonly status: string
  readonly crd: number
  readonly more: boolean
  readonly dnr: boolean
}

/** What the host writes of a submission queue entry; everything else is zero. */
export interface SqEntry {
  readonly opcode: number
  readonly nsid?: number
  readonly prp1?: number
  readonly prp2?: number
  /** Command dwords by number. */
  readonly cdw?: Readonly<Record<number, number>>
}

export class CqRing {
  readonly qid: number
  readonly entries: number
  readonly region: Region
  /** A fault has posted an entry with a wrong Phase Tag: the host waits at it for good. */
  isWedged = false
  /** It is being deleted: no doorbell of it may be rung when it is gone, and that is before the host knows. */
  isClosing = false
  head = 0
  private written = 0
  private phase = 1
  private readonly view: DataView

  constructor(dma: DmaAllocator, qid: number, entries: number) {
    this.qid = qid
    this.entries = entries
    this.region = new Region(dma, `the ring of CQ ${qid}`, entries * 16, true)
    this.view = new DataView(this.region.bytes.buffer, this.region.bytes.byteOffset, entries * 16)
  }

  /** Takes the entry at the head, if it is there. */
  take(): Entry | undefined {
    const at = this.head * 16
    const dw3 = this.view.getUint32(at + 12, true)
    if (((dw3 >>> 16) & 1) !== this.phase) return undefined
    const entry = {
      dw0: this.view.getUint32(at, true),
      dw1: this.view.getUint32(at + 4, true),
      sqhd: this.view.getUint16(at + 8, true),
      sqid: this.view.getUint16(at + 10, true),
      cid: dw3 & 0xffff,
      status: `${((dw3 >>> 25) & 7).toString(16)}/${((dw3 >>> 17) & 0xff).toString(16).padStart(2, '0')}`,
      crd: (dw3 >>> 28) & 3,
      more: ((dw3 >>> 30) & 1) === 1,
      dnr: dw3 >>> 31 === 1,
    }
    this.region.accept(at, 16)
    this.head = (this.head + 1) % this.entries
    if (this.head === 0) this.phase ^= 1
    return entry
  }

  /** The head differs from what was written last. */
  get hasNews(): boolean {
    return this.head !== this.written
  }

  ring(bar: Bar, strideBytes: number, head = this.head): void {
    if (head === this.head) this.written = head
    bar.write32(0x1000 + (2 * this.qid + 1) * strideBytes, head)
  }
}

export class SqRing {
  readonly qid: number
  readonly entries: number
  readonly cq: CqRing
  readonly region: Region
  /** Where the next entry goes. */
  tail = 0
  /** SQHD of the last completion. */
  head = 0
  /** The host has rung it with an impossible tail: nothing is fetched from it any more. */
  isHalted = false
  /** Entries since the queue was made: staged, announced by the doorbell, and consumed as far as SQHD has told. */
  private staged = 0
  private announced = 0
  private consumed = 0
  private readonly view: DataView

  constructor(dma: DmaAllocator, qid: number, entries: number, cq: CqRing) {
    this.qid = qid
    this.entries = entries
    this.cq = cq
    this.region = new Region(dma, `the ring of SQ ${qid}`, entries * 64, true)
    this.view = new DataView(this.region.bytes.buffer, this.region.bytes.byteOffset, entries * 64)
  }

  stage(cid: number, { opcode, nsid = 0, prp1 = 0, prp2 = 0, cdw = {} }: SqEntry): void {
    const at = this.tail * 64
    for (let i = 0; i < 64; i += 4) this.view.setUint32(at + i, 0, true)
    this.view.setUint32(at, (opcode | (cid << 16)) >>> 0, true)
    this.view.setUint32(at + 4, nsid, true)
    this.view.setBigUint64(at + 24, BigInt(prp1), true)
    this.view.setBigUint64(at + 32, BigInt(prp2), true)
    for (const [dword, value] of Object.entries(cdw)) this.view.setUint32(at + Number(dword) * 4, value, true)
    this.region.accept(at, 64)
    this.tail = (this.tail + 1) % this.entries
    this.staged++
  }

  /** Entries were staged since the doorbell was written. */
  get hasNews(): boolean {
    return this.announced !== this.staged
  }

  ring(bar: Bar, strideBytes: number, tail = this.tail): void {
    if (tail === this.tail) this.announced = this.staged
    bar.write32(0x1000 + 2 * this.qid * strideBytes, tail)
  }

  /** Takes the SQHD of a completion; false where the controller cannot have consumed that much. */
  takeHead(sqhd: number): boolean {
    const more = (sqhd - this.head + this.entries) % this.entries
    if (sqhd >= this.entries || this.consumed + more > this.announced) return false
    this.consumed += more
    this.head = sqhd
    return true
  }
}
