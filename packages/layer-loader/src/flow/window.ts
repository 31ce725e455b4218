import type { StoreSummary } from '../store/store.js'

/** Bytes over which a rate is measured: a few milliseconds of a fast drive. */
const SAMPLE_BYTES = 16 * 1024 * 1024

/** Factor of a trial with less in flight. */
const STEP = 0.75

/**
 * Share of the best rate that a trial with less must keep, and gain that a trial with more must have. The gain is smaller
 * than the loss, so that a step to less that cost some rate is undone later.
 */
const KEPT = 0.985
const GAINED = 1.0075

/** Share of the best rate below which the drive has changed, for example by its temperature. */
const CHANGED = 0.95

/** Samples after a trial that failed until the next one: doubled with each failure. One sample may mislead. */
const MIN_PAUSE = 4
const MAX_PAUSE = 64

/** Options of a window, in bytes. */
export interface WindowOptions {
  /** Initial and maximum budget. */
  readonly maxBytes: number
  /** The usual length of a read. A step changes the budget by at least one; two are always allowed. */
  readonly pieceBytes: number
  /** Fixed budget, which is not adapted. */
  readonly fixedBytes?: number | undefined
}

/** A change of the budget whose effect is being measured. */
interface Trial {
  readonly beforeBytes: number
  readonly step: 'less' | 'more'
}

/**
 * Budget of bytes in flight on one store. More than bandwidth × latency of the drive is not faster, but every urgent
 * read waits for it. Neither is known: the window shrinks step by step while the rate stays the same, and grows again
 * when that is faster. Only samples with a full window count: otherwise the consumer limits the rate, not the drive.
 */
export class Window {
  private readonly options: WindowOptions
  private limit: number
  private flying = 0
  /** The best rate so far, in bytes per nanosecond. */
  private rate = 0
  private trial: Trial | undefined
  private nextStep: Trial['step'] = 'less'
  private samplesToTrial = 1
  /** False for the first sample after a start, in which the drive fills its buffers. */
  private isWarm = false
  private pauseSamples = MIN_PAUSE
  private sampleBytes = 0
  private sampleStartNs: number | undefined
  private lastEndNs = -Infinity

  constructor(options: WindowOptions) {
    this.options = options
    this.limit = options.fixedBytes ?? options.maxBytes
  }

  /** The current budget. */
  get limitBytes(): number {
    return this.limit
  }

  /** Whether a read of this length may begin. One may always be in flight. */
  hasRoomFor(bytes: number): boolean {
    return this.flying === 0 || this.flying + bytes <= this.limit
  }

  begin(bytes: number): void {
    this.flying += bytes
  }

  /** @param summary of a successful read. */
  end(bytes: number, summary?: StoreSummary): void {
    this.flying -= bytes
    if (summary === undefined || this.options.fixedBytes !== undefined) return
    this.lastEndNs = Math.max(this.lastEndNs, summary.endNs)
    if (this.sampleStartNs === undefined) {
      // After a step to less, the sample begins when the surplus has arrived.
      if (this.flying <= this.limit) this.sampleStartNs = this.lastEndNs
      this.sampleBytes = 0
      return
    }
    this.sampleBytes += bytes
    const tookNs = this.lastEndNs - this.sampleStartNs
    if (this.sampleBytes < Math.max(SAMPLE_BYTES, 2 * this.limit) || tookNs <= 0) return
    this.sampleStartNs = undefined
    const { isWarm } = this
    this.isWarm = true
    if (isWarm) this.sampled(this.sampleBytes / tookNs)
  }

  /** Discards the current sample and undoes an unmeasured trial: there was room but nothing to read. */
  starve(): void {
    this.sampleStartNs = undefined
    this.isWarm = false
    if (this.trial === undefined) return
    this.limit = this.trial.beforeBytes
    this.trial = undefined
  }

  private sampled(rate: number): void {
    const { trial } = this
    if (trial === undefined) {
      // Trials compare with the best rate: if they compared with the last one, many small losses would add up.
      this.rate = rate < this.rate * CHANGED ? rate : Math.max(this.rate, rate)
      if (--this.samplesToTrial <= 0) this.try(this.nextStep)
      return
    }
    this.trial = undefined
    const { step, beforeBytes } = trial
    const succeeds = step === 'less' ? rate >= this.rate * KEPT : rate > this.rate * GAINED
    if (succeeds) {
      this.rate = Math.max(this.rate, rate)
      this.pauseSamples = MIN_PAUSE
      this.try(step)
    } else {
      this.limit = beforeBytes
      this.pause(step)
    }
  }

  private try(step: Trial['step']): void {
    const { maxBytes, pieceBytes } = this.options
    const beforeBytes = this.limit
    const wanted =
      step === 'less'
        ? Math.max(2 * pieceBytes, Math.min(beforeBytes * STEP, beforeBytes - pieceBytes))
        : Math.max(beforeBytes / STEP, beforeBytes + pieceBytes)
    this.limit = Math.min(maxBytes, wanted)
    if (this.limit === beforeBytes) this.pause(step)
    else this.trial = { beforeBytes, step }
  }

  /** Waits before the next trial, which is a step in the other direction. */
  private pause(step: Trial['step']): void {
    this.nextStep = step === 'less' ? 'more' : 'less'
    this.samplesToTrial = this.pauseSamples
    this.pauseSamples = Math.min(MAX_PAUSE, 2 * this.pauseSamples)
  }
}
