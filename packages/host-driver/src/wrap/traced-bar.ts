import { ACQ, AQA, ASQ, CAP, CC, DOORBELL_BASE, formatRegisterAt, registerNameAt } from '@gpunvme/nvme-spec'
import type { Bar, TraceEvent } from '@gpunvme/nvme-spec/transport'
import type { TracedQueues } from './traced-queues.js'

/** Receives an event; the caller adds the time. */
export type Tell = (event: Omit<TraceEvent, 'timeNs'>) => void

/** Registers whose accesses are reported, each before it is made: a doorbell changes what is to be reported. */
export class TracedBar implements Bar {
  readonly lengthBytes: number
  private readonly inner: Bar
  private readonly queues: TracedQueues
  private readonly now: () => number
  private readonly tell: Tell
  /** Values that the host wrote to the properties up to ACQ. */
  private readonly written = new DataView(new ArrayBuffer(ACQ.offset + 8))
  private dstrd: number | undefined

  constructor(inner: Bar, queues: TracedQueues, now: () => number, tell: Tell) {
    this.lengthBytes = inner.lengthBytes
    this.inner = inner
    this.queues = queues
    this.now = now
    this.tell = tell
  }

  read32(offset: number): number {
    const value = this.inner.read32(offset)
    if (offset === CAP.offset + 4) this.learnStride(BigInt(value) << 32n)
    this.tellOf('read', offset, value)
    return value
  }

  read64(offset: number): bigint {
    const value = this.inner.read64(offset)
    if (offset === CAP.offset) this.learnStride(value)
    this.tellOf('read', offset, value)
    return value
  }

  write32(offset: number, value: number): void {
    // An invalid value is left to the transport, which rejects it.
    if (Number.isInteger(offset) && value >>> 0 === value) this.note32(offset, value)
    this.inner.write32(offset, value)
  }

  write64(offset: number, value: bigint): void {
    if (Number.isInteger(offset) && typeof value === 'bigint' && BigInt.asUintN(64, value) === value) {
      this.tellOf('write', offset, value)
      this.follow(offset, Number(value & 0xffff_ffffn))
      this.follow(offset + 4, Number(value >> 32n))
    }
    this.inner.write64(offset, value)
  }

  /** Handles a reset that did not pass the registers. */
  reset(): void {
    this.written.setUint32(CC.offset, 0, true)
    this.queues.clear()
  }

  private note32(offset: number, value: number): void {
    const rung = offset < DOORBELL_BASE ? undefined : this.ring(offset, value)
    if (rung === undefined) this.tellOf('write', offset, value)
    else for (const event of rung) this.tell(event)
    this.follow(offset, value)
  }

  /**
   * Returns the events of a doorbell; undefined if its queue was not created, or if the offset is not that of a
   * doorbell.
   */
  private ring(offset: number, value: number): readonly Parameters<Tell>[0][] | undefined {
    if (this.dstrd === undefined) this.learnStride(this.inner.read64(CAP.offset))
    const index = (offset - DOORBELL_BASE) / 2 ** (2 + (this.dstrd ?? 0))
    if (!Number.isInteger(index)) return undefined
    const qid = index >> 1
    return index % 2 === 0 ? this.queues.ringTail(qid, value, this.now()) : this.queues.ringHead(qid, value, this.now())
  }

  /** Stores a written value, and updates the queues after a write to CC. */
  private follow(offset: number, value: number): void {
    if (offset < 0 || offset % 4 !== 0 || offset >= this.written.byteLength) return
    const wasOn = CC.EN.of(this.written.getUint32(CC.offset, true)) === 1
    this.written.setUint32(offset, value, true)
    if (offset !== CC.offset) return
    const isOn = CC.EN.of(value) === 1
    if (!isOn) this.queues.clear()
    if (isOn && !wasOn) {
      const asq = this.written.getBigUint64(ASQ.offset, true)
      const acq = this.written.getBigUint64(ACQ.offset, true)
      this.queues.enable(this.written.getUint32(AQA.offset, true), asq, acq)
    }
  }

  private learnStride(cap: bigint): void {
    if (cap >> 32n !== 0xffff_ffffn) this.dstrd = CAP.DSTRD.of(cap)
  }

  private tellOf(verb: 'read' | 'write', offset: number, value: number | bigint): void {
    this.tell({
      track: 'bar',
      name: `${verb} ${registerNameAt(offset)}`,
      details: { value: formatRegisterAt(offset, value) },
    })
  }
}
