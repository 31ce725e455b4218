import type { BlockStore, StoreSummary } from '../store/store.js'
import type { Attached } from './block-set.js'
import type { Speed } from './measure.js'

/** What a member delivers is judged by about this much of what it has delivered last, in samples of half as much. */
const MEMORY_BYTES = 16 * 1024 * 1024
const SAMPLE_BYTES = MEMORY_BYTES / 2

/** No member is given more than it delivers in this time: what is given out late is given out by what is known then. */
const AHEAD_NS = 10_000_000

/** Reads up to this length tell how long an answer takes, and nothing else; longer ones how fast the bytes come. */
const SHORT_BYTES = 64 * 1024

/** Nothing takes no time at all, or a member that seems to would be given everything. */
const LEAST_NS_PER_BYTE = 1e-6

/** A member of a mirror that is read from: how much it is to do, and how long that takes it. */
export class MirrorMember<S extends BlockStore = BlockStore> implements Attached<S> {
  readonly index: number
  readonly store: S
  readonly bounced: boolean
  isLive = true
  /** Reads that it is late with, and that others do as well. It is given nothing more until they have ended. */
  stalledReads = 0
  outstandingBytes = 0
  readBytes = 0
  private nsPerByte: number
  private latencyNs: number
  /** What it has brought since then, without a pause. */
  private sampleFromNs = 0
  private sampleBytes = 0

  constructor({ index, store, bounced }: Attached<S>, { bytesPerSecond, latencyNs }: Speed) {
    this.index = index
    this.store = store
    this.bounced = bounced
    this.nsPerByte = Math.max(LEAST_NS_PER_BYTE, 1e9 / bytesPerSecond)
    this.latencyNs = latencyNs
  }

  get bytesPerSecond(): number {
    return 1e9 / this.nsPerByte
  }

  /** How long it takes for all that it was given, and that much more. */
  timeForNs(bytes: number): number {
    return this.latencyNs + (this.outstandingBytes + bytes) * this.nsPerByte
  }

  /** It has room for a read of that many bytes: it has less to do than keeps it busy, or nothing behind what it does. */
  hasRoom(bytes: number): boolean {
    const { outstandingBytes, store, nsPerByte } = this
    return outstandingBytes <= bytes || outstandingBytes + bytes <= Math.min(store.busyBytes, AHEAD_NS / nsPerByte)
  }

  /** It is given a read, at this time of its clock. */
  given(bytes: number, nowNs: number): void {
    // A time of work begins, with the answer to its first command.
    if (this.outstandingBytes === 0) {
      this.sampleFromNs = nowNs + this.latencyNs
      this.sampleBytes = 0
    }
    this.outstandingBytes += bytes
  }

  /** A read of that many bytes has ended, well or not. */
  ended(bytes: number): void {
    this.outstandingBytes -= bytes
  }

  /**
   * Learns from a read that has brought its bytes, before `ended`: from all that it has brought in a time of work, since
   * reads that are under way together end in any order. What was late says nothing of its speed: that a drive rests for
   * a second now and then is what `stalledReads` is for.
   */
  delivered({ bytes, startNs, endNs }: StoreSummary, wasLate: boolean): void {
    this.readBytes += bytes
    const isAlone = this.outstandingBytes <= bytes
    if (wasLate) {
      this.sampleFromNs = endNs
      this.sampleBytes = 0
      return
    }
    this.sampleBytes += bytes
    if (isAlone && bytes <= SHORT_BYTES) this.latencyNs = Math.min(this.latencyNs, endNs - startNs)
    if (this.sampleBytes < SAMPLE_BYTES && !isAlone) return
    if (this.sampleBytes > SHORT_BYTES) {
      const found = Math.max(LEAST_NS_PER_BYTE, (endNs - this.sampleFromNs) / this.sampleBytes)
      this.nsPerByte += (found - this.nsPerByte) * Math.min(1, this.sampleBytes / MEMORY_BYTES)
    }
    this.sampleFromNs = endNs
    this.sampleBytes = 0
  }
}
