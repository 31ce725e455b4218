import { formatRegisterAt, registerNameAt } from '@gpunvme/nvme-spec'
import { traceCqe, traceSqe } from '@gpunvme/nvme-spec/trace'
import type { TraceSink } from '@gpunvme/nvme-spec/transport'
import type { EventClock } from '../time/clock.js'

/** Kinds of hashed events. Changing one of these numbers changes every hash. */
const HAPPENED = {
  registerRead: 1,
  registerWrite: 2,
  doorbell: 3,
  fetch: 4,
  post: 5,
  dataToHost: 6,
  dataFromHost: 7,
  interrupt: 8,
  fault: 9,
} as const

/**
 * Records events in two forms: a hash of everything, always computed, to compare runs on any machine; and named events
 * for a sink, if there is one.
 */
export class Trace {
  private readonly clock: EventClock
  private readonly sink: TraceSink | undefined
  // Any start values other than 0 work.
  private first = 0x6a09_e667
  private second = 0xbb67_ae85

  constructor(clock: EventClock, sink: TraceSink | undefined) {
    this.clock = clock
    this.sink = sink
  }

  /** 64-bit hash of all events so far and their times, in hexadecimal. */
  get hash(): string {
    return [this.first, this.second].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('')
  }

  registerRead(offset: number, value: number): void {
    this.note(HAPPENED.registerRead, offset, value)
    this.sink?.({
      ...this.head('bar'),
      name: `read ${registerNameAt(offset)}`,
      details: { value: formatRegisterAt(offset, value) },
    })
  }

  registerWrite(offset: number, value: number): void {
    this.note(HAPPENED.registerWrite, offset, value)
    this.sink?.({
      ...this.head('bar'),
      name: `write ${registerNameAt(offset)}`,
      details: { value: formatRegisterAt(offset, value) },
    })
  }

  doorbell(qid: number, isTail: boolean, value: number): void {
    this.note(HAPPENED.doorbell, qid * 2 + (isTail ? 0 : 1), value)
    this.sink?.({
      ...this.head(isTail ? `sq ${qid}` : `cq ${qid}`),
      name: isTail ? 'ring tail' : 'ring head',
      details: { value },
    })
  }

  fetch(qid: number, entry: DataView): void {
    this.note(HAPPENED.fetch, qid, entry.getUint32(0, true))
    this.sink?.({
      ...this.head(`sq ${qid}`),
      name: 'fetch',
      command: traceSqe(qid, entry),
    })
  }

  /** A completion queue entry became visible to the host, for a command fetched at `fetchedNs`. */
  post(cqid: number, entry: DataView, byteOffset: number, fetchedNs: number): void {
    this.note(HAPPENED.post, cqid, entry.getUint32(byteOffset + 12, true))
    this.sink?.({
      ...this.head(`cq ${cqid}`),
      name: 'post',
      completion: traceCqe(entry, byteOffset),
      details: { afterNs: this.clock.now() - fetchedNs },
    })
  }

  /** Data of a command crossed the link. */
  data(direction: 'to-host' | 'from-host', iova: number, lengthBytes: number): void {
    this.note(direction === 'to-host' ? HAPPENED.dataToHost : HAPPENED.dataFromHost, iova, lengthBytes)
    this.sink?.({ ...this.head('dma'), name: direction, details: { iova: hex(iova), lengthBytes } })
  }

  interrupt(vector: number): void {
    this.note(HAPPENED.interrupt, vector, 0)
    this.sink?.({ ...this.head('interrupt'), name: `vector ${vector}` })
  }

  /** A fault of the plan was injected: the number of its rule, and its action. */
  fault(rule: number, kind: string, where: string): void {
    this.note(HAPPENED.fault, rule, 0)
    this.sink?.({ ...this.head('fault'), name: kind, details: { rule, where } })
  }

  private head(track: string): { readonly timeNs: number; readonly track: string } {
    return { timeNs: this.clock.now(), track }
  }

  private note(what: number, x: number, y: number): void {
    this.mix(what)
    this.mix(this.clock.now())
    this.mix(x)
    this.mix(y)
  }

  /** Hashes both halves of a whole number below 2^53. */
  private mix(value: number): void {
    const high = (value / 0x1_0000_0000) | 0
    this.first = Math.imul(this.first ^ (value | 0), 0x9e37_79b1) ^ (this.first >>> 15)
    this.second = Math.imul(this.second ^ (value | 0), 0x85eb_ca77) + Math.imul(high ^ this.first, 0xc2b2_ae3d)
    this.second ^= this.second >>> 13
  }
}

function hex(value: number): string {
  return `0x${value.toString(16)}`
}
