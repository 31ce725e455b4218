import type { BlockStore, StoreSummary } from '../store/store.js'
import type { Attached } from './block-set.js'
import type { Speed } from './measure.js'

/** A member's rate is averaged over about this many recent bytes, in samples of half as much. */
const MEMORY_BYTES = 16 * 1024 * 1024
const SAMPLE_BYTES = MEMORY_BYTES / 2

/** Maximum queue of a member, as time: later assignments use newer rates. */
const AHEAD_NS = 10_000_000

/** Reads up to this length only update the latency; longer ones update the rate. */
const SHORT_BYTES = 64 * 1024

/** Lower bound: a member that seems to take no time would get all reads. */
const MIN_NS_PER_BYTE = 1e-6

/** A readable member of a mirror, with its queue and measured rate. */
export class MirrorMember<S extends BlockStore = BlockStore> implements Attached<S> {
  readonly index: number
  readonly store: S
  readonly bounced: boolean
  isLive = true
  /** Late reads that other members repeat. It gets no new reads until they have ended. */
  stalledReads = 0
  outstandingBytes = 0
  readBytes = 0
  private nsPerByte: number
  private latencyNs: number
  /** Start of the current sample, which has no pause. */
  private sampleFromNs = 0
  private sampleBytes = 0

  constructor({ index, store, bounced }: Attached<S>, { bytesPerSecond, latencyNs }: Speed) {
    this.index = index
    this.store = store
    this.bounced = bounced
    this.nsPerByte = Math.max(MIN_NS_PER_BYTE, 1e9 / bytesPerSecond)
    this.latencyNs = latencyNs
  }

  get bytesPerSecond(): number {
    return 1e9 / this.nsPerByte
  }

  /** Returns the time for its queue and that many more bytes. */
  timeForNs(bytes: number): number {
    return this.latencyNs + (this.outstandingBytes + bytes) * this.nsPerByte
  }

  /**
   * Returns whether it may get another read: its queue is too short to keep it busy, or has nothing behind the current
   * read.
   */
  hasRoom(bytes: number): boolean {
    const { outstandingBytes, store, nsPerByte } = this
    return (
      outstandingBytes <= bytes || outstandingBytes + bytes <= Math.min(store.saturationBytes, AHEAD_NS / nsPerByte)
    )
  }

  /** Records a read given to it, at this time of its clock. */
  given(bytes: number, nowNs: number): void {
    // A busy period begins, with the latency of its first command.
    if (this.outstandingBytes === 0) {
      this.sampleFromNs = nowNs + this.latencyNs
      this.sampleBytes = 0
    }
    this.outstandingBytes += bytes
  }

  /** Records the end of a read, successful or not. */
  ended(bytes: number): void {
    this.outstandingBytes -= bytes
  }

  /**
   * Updates the rate from a successful read, before `ended`: from all bytes of a busy period, since concurrent reads
   * end in any order. Late reads are excluded: an occasional pause of a drive is handled by `stalledReads`.
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
      const found = Math.max(MIN_NS_PER_BYTE, (endNs - this.sampleFromNs) / this.sampleBytes)
      this.nsPerByte += (found - this.nsPerByte) * Math.min(1, this.sampleBytes / MEMORY_BYTES)
    }
    this.sampleFromNs = endNs
    this.sampleBytes = 0
  }
}
