import type { BlockStore, StoreSummary } from '../store/store.js'
import type { Attached } from './block-set.js'
import type { Speed } from './measure.js'

/** What a member delivers is judged by about this much of what it has delivered last. */
const MEMORY_BYTES = 8 * 1024 * 1024

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
  /** Until when it was busy with what it has delivered. */
  private busyUntilNs = -Infinity

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

  /** It has room for a read of that many bytes: more in flight would make it no faster. */
  hasRoom(bytes: number): boolean {
    return this.outstandingBytes === 0 || this.outstandingBytes + bytes <= this.store.busyBytes
  }

  /**
   * Learns from a read that has ended: what it took since the one before, since they are done side by side. What was
   * late says nothing of its speed: that a drive rests for a second now and then is what `stalledReads` is for.
   */
  delivered({ bytes, startNs, endNs }: StoreSummary, wasLate: boolean): void {
    const wasIdle = startNs >= this.busyUntilNs
    const tookNs = wasIdle ? endNs - startNs - this.latencyNs : endNs - this.busyUntilNs
    this.busyUntilNs = Math.max(this.busyUntilNs, endNs)
    this.readBytes += bytes
    if (wasLate) return
    if (bytes <= SHORT_BYTES) {
      if (wasIdle) this.latencyNs = Math.min(this.latencyNs, endNs - startNs)
      return
    }
    const found = Math.max(LEAST_NS_PER_BYTE, tookNs / bytes)
    this.nsPerByte += (found - this.nsPerByte) * Math.min(1, bytes / MEMORY_BYTES)
  }
}
