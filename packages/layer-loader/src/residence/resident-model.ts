import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Checksummer, CopyEngine } from '@gpunvme/nvme-spec/transport'
import { quote } from '../formats/quote.js'
import { AllSlotsHeldError } from '../stream/layer-stream.js'
import { Copier } from './copier.js'
import { Feed } from './feed.js'
import { LinkTimesCounter, type LinkTimes } from './link-times.js'
import type { ResidencePlan } from './plan.js'
import { nsPerByteOf, type PlacedLayer } from './predict.js'
import { RateWatch, type DriftBand, type RateDrift } from './rate-watch.js'
import type { ObservedRates } from './replan.js'
import { ResidentLease } from './resident-lease.js'
import { Residents } from './residents.js'
import type { LayerSource } from './source.js'

export interface ResidenceParts {
  readonly source: LayerSource
  /** What copies to the GPU; not needed by a plan of tier 2 without layers in host memory. */
  readonly copies?: CopyEngine
  /** Checks each copy in GPU memory, such as `cudaChecksummer`; copies are not checked without one. */
  readonly checksummer?: Checksummer
  /** Aborting ends loading, and later every pass. */
  readonly signal?: AbortSignal
  /** Called for each layer that was loaded to stay. */
  readonly onLoaded?: (layer: PlacedLayer) => void
  /** How far the drive may be from the plan. */
  readonly drift?: DriftBand
  /** Called when it gets further: `replan` makes the plan for what was observed, `adopt` takes it between two passes. */
  readonly onDrift?: (drift: RateDrift) => void
}

export interface PassOptions {
  /** Layers that are not computed this time; they are not brought either. */
  readonly skip?: readonly string[]
  /** The last pass: nothing is read ahead for another. False when not given. */
  readonly isLast?: boolean
  /**
   * What happens while leases hold every slot. 'throw' (when not given): AllSlotsHeldError, since in a plain loop nobody
   * would ever release one. 'wait': until one is released elsewhere.
   */
  readonly whenHeld?: 'throw' | 'wait'
  /** Aborting ends the pass at once; what is under way is kept for the next one. */
  readonly signal?: AbortSignal
}

/** What was done since the model was opened; link times include loading what stays. Times are of the source's clock. */
export interface ResidenceStatistics extends LinkTimes {
  /** Those that came to their end. */
  readonly passes: number
  readonly layers: number
  /** That passes waited for the drive, and for copies: where both are 0 the GPU always had something to compute. */
  readonly waitedForDriveNs: number
  readonly waitedForCopiesNs: number
}

/**
 * Loads what a plan keeps in memory, and gives passes over the layers.
 *
 * ```ts
 * await using model = await openResidence(planResidence(layerSizes(image), options), { source, copies })
 * for await (using layer of model.pass()) await compute(layer.memory.gpuPointer)
 * ```
 *
 * @throws TypeError where the plan copies and there is no copy engine; what allocating and reading throw. Nothing stays
 *   allocated then.
 */
export async function openResidence(plan: ResidencePlan, parts: ResidenceParts): Promise<ResidentModel> {
  const model = new ResidentModel(parts)
  try {
    await model.adopt(plan)
  } catch (error) {
    await model.close()
    throw error
  }
  return model
}

/** A model that is partly in memory, and read and copied as it is computed on. */
export class ResidentModel {
  private readonly parts: ResidenceParts
  private readonly times = new LinkTimesCounter()
  private readonly counts = { passes: 0, layers: 0, waitedForDriveNs: 0, waitedForCopiesNs: 0 }
  private readonly copier: Copier | undefined
  private readonly residents: Residents
  private readonly stop = new AbortController()
  private readonly signal: AbortSignal
  private readonly leases = new Set<ResidentLease>()
  private feed: Feed | undefined
  private watch: RateWatch | undefined
  private current: ResidencePlan | undefined
  private isPassing = false
  /** Another plan on its way in. */
  private adopting: Promise<void> | undefined

  /** Use `openResidence`. */
  constructor(parts: ResidenceParts) {
    this.parts = parts
    const { copies, checksummer, source, signal } = parts
    this.copier = copies && new Copier(copies, source.clock, this.times, checksummer)
    this.residents = new Residents(source, this.copier, this.times)
    this.signal = signal ? AbortSignal.any([signal, this.stop.signal]) : this.stop.signal
  }

  /** What it goes by. */
  get plan(): ResidencePlan {
    return this.current!
  }

  get statistics(): ResidenceStatistics {
    return { ...this.counts, ...this.times.snapshot }
  }

  /** What reads have cost lately; undefined until enough layers were read since the plan was adopted. */
  get observed(): ObservedRates | undefined {
    return this.watch?.observed
  }

  /**
   * The layers in the order of computation, each on the GPU by the time it is handed out, with those behind it on their
   * way: also, at the end, the first of a pass like this one. A layer is released when it has been computed on.
   * @throws RangeError for a layer to skip that there is not. When it begins: TypeError while another pass or `adopt` is
   *   under way, PlanNotAdoptedError when the last `adopt` failed. While it runs: VerificationError, TransferError, AllSlotsHeldError, the signal's reason; another pass may be tried after that.
   */
  pass(options: PassOptions = {}): AsyncGenerator<ResidentLease, undefined> {
    const { plan } = this
    const skipped = new Set(options.skip)
    for (const { name } of plan.layers) skipped.delete(name)
    const [unknown] = skipped
    if (unknown !== undefined) throw new RangeError(`skip: expected names of layers, got ${quote(unknown)}`)
    return this.run(options)
  }

  /**
   * Goes by another plan for the same layers from now on: loads what it keeps in memory, and lets go of what it does not.
   * @throws TypeError during a pass, during another `adopt`, and while leases are held; as `openResidence`. Passes are
   *   refused then until a plan is adopted.
   */
  async adopt(plan: ResidencePlan): Promise<void> {
    if (this.isPassing || this.leases.size > 0)
      throw new TypeError('adopt: expected no pass to be under way and every layer to be released')
    if (this.adopting !== undefined) throw new TypeError('adopt: expected no other plan to be on its way in')
    const isCopying = plan.slots.copies > 0 || (plan.tier === 1 && plan.vram.layers > 0)
    if (isCopying && this.copier === undefined)
      throw new TypeError('copies: expected a copy engine, since the plan copies layers to the GPU, got nothing')
    this.signal.throwIfAborted()
    this.adopting = this.change(plan)
    try {
      await this.adopting
    } finally {
      this.adopting = undefined
    }
  }

  /** Ends a pass and every lease, waits for what is under way, and frees all memory. Closing twice is harmless. */
  async close(): Promise<void> {
    this.stop.abort(new ResidenceClosedError())
    const { feed } = this
    this.feed = undefined
    // First, so that no released slot is filled again.
    const closing = feed?.close()
    for (const lease of this.leases) lease.release()
    await closing
    // Copies of a plan on its way in still write to what is freed next. Whoever adopts hears how that ended.
    await Promise.allSettled([this.adopting])
    await this.residents.close()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  private async change(plan: ResidencePlan): Promise<void> {
    await this.feed?.close()
    this.feed = undefined
    await this.residents.adopt(plan, this.signal, (layer) => this.parts.onLoaded?.(layer))
    // The last layer may have come all the same: for a model that was closed there is nothing to feed.
    this.signal.throwIfAborted()
    this.current = plan
    this.watch = new RateWatch(nsPerByteOf(plan.options), this.parts.drift ?? {}, (drift) =>
      this.parts.onDrift?.(drift),
    )
    const { residents, copier, times, watch, signal } = this
    this.feed = new Feed({ plan, source: this.parts.source, residents, copier, times, watch, signal })
  }

  private async *run({
    skip = [],
    isLast = false,
    whenHeld,
    signal,
  }: PassOptions): AsyncGenerator<ResidentLease, undefined> {
    if (this.isPassing || this.adopting !== undefined)
      throw new TypeError('pass: expected no other pass to be under way, and no plan to be on its way in')
    const either = signal ? AbortSignal.any([signal, this.signal]) : this.signal
    either.throwIfAborted()
    const { feed, plan } = this
    if (feed === undefined) throw new PlanNotAdoptedError()
    // Another plan may have been adopted since the pass was asked for.
    const layers = plan.layers.filter(({ name }) => !skip.includes(name))
    this.isPassing = true
    try {
      feed.expect(isLast ? layers : [...layers, ...layers])
      for (const [index, layer] of layers.entries()) {
        if (whenHeld !== 'wait' && feed.isHeld(layer)) throw new AllSlotsHeldError(this.leases.size)
        yield await this.lend(feed, layer, index, either)
        either.throwIfAborted()
      }
      this.counts.passes++
    } finally {
      this.isPassing = false
    }
  }

  private async lend(feed: Feed, layer: PlacedLayer, index: number, signal: AbortSignal): Promise<ResidentLease> {
    const { clock } = this.parts.source
    const askedNs = clock.now()
    const brought = await feed.take(layer, signal)
    // Closing has released every lease that there was: for this one it would come too late.
    if (signal.aborted) brought.release()
    signal.throwIfAborted()
    const waitedNs = clock.now() - askedNs
    const forDriveNs = Math.min(waitedNs, Math.max(0, (brought.readEndNs ?? 0) - askedNs))
    this.counts.waitedForDriveNs += forDriveNs
    this.counts.waitedForCopiesNs += waitedNs - forDriveNs
    this.counts.layers++
    const lease = new ResidentLease(layer.name, index, layer.residence, {
      ...brought,
      release: () => {
        this.leases.delete(lease)
        brought.release()
      },
    })
    this.leases.add(lease)
    return lease
  }
}

/** The model was closed while a pass was under way. */
export class ResidenceClosedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_RESIDENCE_CLOSED'
  readonly category = 'usage'

  constructor() {
    super('The model was closed: its layers are in memory no longer', { next: 'open it again with openResidence' })
  }
}

/** The last plan could not be adopted, so that there is nothing for a pass to go by. */
export class PlanNotAdoptedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_PLAN_NOT_ADOPTED'
  readonly category = 'usage'

  constructor() {
    super('No pass is possible: the last adopt failed', { next: 'adopt a plan, the one before it for instance' })
  }
}
