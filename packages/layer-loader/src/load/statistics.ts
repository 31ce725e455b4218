import type { Clock } from '@gpunvme/nvme-spec/transport'
import type { DeviceShare, StoreSummary } from '../store/store.js'
import { Histogram, type Percentiles } from './histogram.js'

/** Totals of a loader. Times are by the store's clock unless stated otherwise, in nanoseconds. */
export interface LoaderStatistics {
  /** Number of loaded layers, experts and tensors, each time that one was loaded, even if it was discarded later. */
  readonly extents: number
  readonly tensors: number
  /** Number of tensors in them that were verified before they were handed out. */
  readonly tensorsVerified: number
  /** Bytes read from the store. */
  readonly bytes: number
  /** Bytes of the loaded extents, without surrounding blocks and chunks. */
  readonly requestedBytes: number
  /**
   * Bytes read for requests that were cancelled, that failed, or that were put back for more urgent ones. For extents
   * that had been loaded, this includes bytes of `requestedBytes`.
   */
  readonly discardedBytes: number
  /** Bytes moved in memory for alignment. */
  readonly movedBytes: number
  readonly commands: number
  /** Time with at least one read in flight. */
  readonly readNs: number
  /** Time with at least one lease, and the part of it with reads in flight (overlap of use and reading). */
  readonly leasedNs: number
  readonly overlappedNs: number
  /** Time from the first read's submission to the last one's end. */
  readonly elapsedNs: number
  /** Time for checksums, by this machine's clock, other than those that the store computes during reads. */
  readonly verifyNs: number
  /** Element n counts reads submitted at depth n: the reads in flight including the new one. */
  readonly depths: readonly number[]
  /** Latencies of reads, from submission to end. A read is a batch of several commands. */
  readonly latencyNs: Percentiles
  /** For a store of several devices, the share of each. */
  readonly devices: readonly DeviceShare[]
  /** Bytes per second over the last 64 MiB, and the best such rate. If they differ much, the drive has slowed down. */
  readonly recentRate: number | undefined
  readonly bestRate: number | undefined
}

/** Bytes over which a rate is computed. */
const RATE_BYTES = 64 * 1024 * 1024

/** Names of counters. */
type Count = 'discardedBytes' | 'movedBytes' | 'verifyNs'

/** Counts the work of a loader. */
export class LoadMeter {
  private readonly clock: Clock
  private readonly counts = {
    extents: 0,
    tensors: 0,
    tensorsVerified: 0,
    requestedBytes: 0,
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

  /** Records an extent that is completely in memory and, if requested, verified. */
  loaded({
    tensors,
    tensorsVerified,
    requestedBytes,
  }: Record<'tensors' | 'tensorsVerified' | 'requestedBytes', number>): void {
    this.counts.extents++
    this.counts.tensors += tensors
    this.counts.tensorsVerified += tensorsVerified
    this.counts.requestedBytes += requestedBytes
  }

  /** Records the submission of a read. */
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
   * Records the end of a read. Reads are submitted before earlier ones have ended, and the store executes those first.
   *
   * @param summary of a successful read.
   * @returns nanoseconds from the later of its submission and the previous read's end, to its own end.
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

  /** Adds the time since the last change to the counters of the current state. */
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
