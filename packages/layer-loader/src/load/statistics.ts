import type { Clock } from '@gpunvme/nvme-spec/transport'
import type { DeviceShare, StoreSummary } from '../store/store.js'
import { Histogram, type Percentiles } from './histogram.js'

/** What a loader has done so far. Times are of the store's clock, unless said otherwise. */
export interface LoaderStatistics {
  /** Layers, experts, tensors that were loaded. */
  readonly extents: number
  readonly tensors: number
  /** Of those, how many were proven before they were handed out. */
  readonly tensorsVerified: number
  /** That came from the store; `wantedBytes` of them were asked for, the rest are blocks and chunks around them. */
  readonly bytes: number
  readonly wantedBytes: number
  /** Bytes read for what was then given up: cancelled, or passed by something more urgent. */
  readonly discardedBytes: number
  /** Bytes that did not lie in memory as they were wanted, and were moved there. */
  readonly movedBytes: number
  readonly commands: number
  /** With at least one read in flight. */
  readonly readNs: number
  /** With at least one lease out, and of that, with reads in flight: the next bytes arriving while others are used. */
  readonly leasedNs: number
  readonly overlappedNs: number
  /** From the first read's submission to the last one's end. */
  readonly elapsedNs: number
  /** For checksums, by this machine's clock. */
  readonly verifyNs: number
  /** How many reads were in flight when one was submitted, itself included: element n counts depth n. */
  readonly depths: readonly number[]
  /** Of reads, from submission to end; a read is a bite of several commands. */
  readonly latencyNs: Percentiles
  /** Of a store of several devices, what each had to do with it. */
  readonly devices: readonly DeviceShare[]
  /** Bytes per second over the last 64 MiB, and at best: the drive has slowed down where they are far apart. */
  readonly recentRate: number | undefined
  readonly bestRate: number | undefined
}

/** Over how many bytes a rate is taken. */
const RATE_BYTES = 64 * 1024 * 1024

/** What can be added to. */
type Count = 'discardedBytes' | 'movedBytes' | 'verifyNs'

/** Counts what a loader does. */
export class LoadMeter {
  private readonly clock: Clock
  private readonly counts = {
    extents: 0,
    tensors: 0,
    tensorsVerified: 0,
    wantedBytes: 0,
    discardedBytes: 0,
    movedBytes: 0,
    verifyNs: 0,
  }
  private readonly latencies = new Histogram()
  private readonly depths: number[] = []
  private readonly devices = new Map<string, { bytes: number; commands: number }>()
  private bytes = 0
  private commands = 0
  private readNs = 0
  private leasedNs = 0
  private overlappedNs = 0
  private firstNs = Infinity
  private lastNs = -Infinity
  private reads = 0
  private leases = 0
  private sinceNs = 0
  private windowBytes = 0
  private windowStartNs = 0
  private recentRate: number | undefined
  private bestRate: number | undefined

  constructor(clock: Clock) {
    this.clock = clock
  }

  add(count: Count, value: number): void {
    this.counts[count] += value
  }

  /** An extent is in memory, whole and proven where that was wanted. */
  loaded({
    tensors,
    tensorsVerified,
    wantedBytes,
  }: Record<'tensors' | 'tensorsVerified' | 'wantedBytes', number>): void {
    this.counts.extents++
    this.counts.tensors += tensors
    this.counts.tensorsVerified += tensorsVerified
    this.counts.wantedBytes += wantedBytes
  }

  /** A read is submitted. */
  readBegins(): void {
    this.pass()
    if (this.reads === 0) {
      this.windowBytes = 0
      this.windowStartNs = this.sinceNs
    }
    const depth = ++this.reads
    this.depths[depth] = (this.depths[depth] ?? 0) + 1
  }

  /**
   * Reads are submitted before those ahead of them have ended, and the store is busy with those first.
   *
   * @param summary of a read that brought its bytes.
   * @returns nanoseconds from the later of its submission and the end of the last read, to its own end.
   */
  readEnds(summary?: StoreSummary): number {
    this.pass()
    this.reads--
    if (summary === undefined) return 0
    const { bytes, commands, startNs, endNs, devices = [] } = summary
    const readNs = Math.max(0, endNs - Math.max(startNs, this.lastNs))
    this.bytes += bytes
    this.commands += commands
    this.firstNs = Math.min(this.firstNs, startNs)
    this.lastNs = Math.max(this.lastNs, endNs)
    this.latencies.add(endNs - startNs)
    for (const share of devices) {
      const sum = this.devices.get(share.name) ?? { bytes: 0, commands: 0 }
      this.devices.set(share.name, { bytes: sum.bytes + share.bytes, commands: sum.commands + share.commands })
    }
    this.rate(bytes, endNs)
    return readNs
  }

  leaseBegins(): void {
    this.pass()
    this.leases++
  }

  leaseEnds(): void {
    this.pass()
    this.leases--
  }

  get snapshot(): LoaderStatistics {
    this.pass()
    const { bytes, commands, readNs, leasedNs, overlappedNs, recentRate, bestRate } = this
    const elapsedNs = this.lastNs < this.firstNs ? 0 : this.lastNs - this.firstNs
    const depths = Array.from(this.depths, (count: number | undefined) => count ?? 0)
    const devices = [...this.devices].map(([name, share]) => ({ name, ...share }))
    const latencyNs = this.latencies.percentiles
    const times = { readNs, leasedNs, overlappedNs, elapsedNs }
    return { ...this.counts, bytes, commands, ...times, depths, latencyNs, devices, recentRate, bestRate }
  }

  /** Gives the time since the last change to what was going on. */
  private pass(): void {
    const nowNs = this.clock.now()
    const passedNs = nowNs - this.sinceNs
    this.sinceNs = nowNs
    if (this.reads > 0) this.readNs += passedNs
    if (this.leases > 0) this.leasedNs += passedNs
    if (this.reads > 0 && this.leases > 0) this.overlappedNs += passedNs
  }

  private rate(bytes: number, endNs: number): void {
    this.windowBytes += bytes
    if (this.windowBytes < RATE_BYTES || endNs <= this.windowStartNs) return
    this.recentRate = (this.windowBytes * 1e9) / (endNs - this.windowStartNs)
    this.bestRate = Math.max(this.bestRate ?? 0, this.recentRate)
    this.windowBytes = 0
    this.windowStartNs = endNs
  }
}
