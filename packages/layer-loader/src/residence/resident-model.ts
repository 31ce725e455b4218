import { LoaderError } from '../error.js'
import type { Checksummer, CopyEngine } from '@gpunvme/nvme-spec/transport'
import { quote } from '../formats/quote.js'
import { allSlotsHeld } from '../stream/layer-stream.js'
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

/** What `openResidence` needs. */
export interface ResidenceParts {
  readonly source: LayerSource
  /** Copies to the GPU; not needed for a plan of tier 2 without layers in host memory. */
  readonly copies?: CopyEngine
  /** Checks each copy in GPU memory, for example `cudaChecksummer`. Without it, copies are not checked. */
  readonly checksummer?: Checksummer
  /** Aborting ends loading and all later passes. */
  readonly signal?: AbortSignal
  /** Called after each resident layer is loaded. */
  readonly onLoaded?: (layer: PlacedLayer) => void
  /** Tolerance of the drive's rate. */
  readonly drift?: DriftBand
  /**
   * Called when the tolerance is exceeded: `replan` makes a plan for the observed rate, `adopt` applies it between
   * passes.
   */
  readonly onDrift?: (drift: RateDrift) => void
}

/** Options of a pass. */
export interface PassOptions {
  /** Layers to omit from this pass; they are not loaded either. */
  readonly skip?: readonly string[]
  /** The last pass: nothing is read ahead for another. Default: false. */
  readonly isLast?: boolean
  /**
   * Behaviour while leases hold all slots. 'throw' (default): LoaderError (ALL_SLOTS_HELD), since a plain loop would
   * never release one. 'wait': wait until other code releases one.
   */
  readonly whenHeld?: 'throw' | 'wait'
  /** Aborting ends the pass at once. Work in flight is kept for the next pass. */
  readonly signal?: AbortSignal
}

/**
 * Totals since the model was opened. Link times include the loading of resident layers. Times are by the source's
 * clock.
 */
export interface ResidenceStatistics extends LinkTimes {
  /** Number of complete passes. */
  readonly passes: number
  readonly layers: number
  /** Time that passes waited for the drive, and for copies. If both are 0, the GPU always had a layer to compute. */
  readonly waitedForDriveNs: number
  readonly waitedForCopiesNs: number
}

/**
 * Loads the layers that a plan keeps in memory, and returns a model for passes over all layers.
 *
 * ```ts
 * await using model = await openResidence(planResidence(layerSizes(image), options), { source, copies })
 * for await (using layer of model.pass()) await compute(layer.memory.gpuPointer)
 * ```
 *
 * @throws TypeError if the plan copies and there is no copy engine; errors of allocation and reading. Then nothing
 * stays allocated.
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

/** A model that is partly in memory; the rest is read and copied during passes. */
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
  /** The adoption of another plan in progress. */
  private adopting: Promise<void> | undefined

  /** Use `openResidence`. */
  constructor(parts: ResidenceParts) {
    this.parts = parts
    const { copies, checksummer, source, signal } = parts
    this.copier = copies && new Copier(copies, source.clock, this.times, checksummer)
    this.residents = new Residents(source, this.copier, this.times)
    this.signal = signal ? AbortSignal.any([signal, this.stop.signal]) : this.stop.signal
  }

  /** The current plan. */
  get plan(): ResidencePlan {
    return this.current!
  }

  get statistics(): ResidenceStatistics {
    return { ...this.counts, ...this.times.snapshot }
  }

  /** Observed cost of recent reads; undefined until enough layers were read since the plan was adopted. */
  get observed(): ObservedRates | undefined {
    return this.watch?.observed
  }

  /**
   * Returns the layers in the order of computation, each on the GPU, while the following ones are loaded; at the end,
   * the first layers of an equal pass are loaded. Release a layer after computing it.
   * @throws RangeError for an unknown layer in `skip`. At the first `next`: TypeError during another pass or `adopt`,
   * LoaderError (PLAN_NOT_ADOPTED) if the last `adopt` failed. Later: VerificationError, TransferError, LoaderError
   * (ALL_SLOTS_HELD), the signal's reason; another pass may follow.
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
   * Applies another plan for the same layers: loads its resident layers, and releases the others.
   * @throws TypeError during a pass or another `adopt`, and while leases are held; errors of `openResidence`. Then
   * passes are rejected until a plan is adopted.
   */
  async adopt(plan: ResidencePlan): Promise<void> {
    if (this.isPassing || this.leases.size > 0) throw new TypeError('adopt: expected no pass in progress and no leases')
    if (this.adopting !== undefined) throw new TypeError('adopt: expected no other adoption in progress')
    const isCopying = plan.slots.copies > 0 || (plan.tier === 1 && plan.vram.layers > 0)
    if (isCopying && this.copier === undefined)
      throw new TypeError('copies: expected a copy engine for a plan that copies layers to the GPU, got undefined')
    this.signal.throwIfAborted()
    this.adopting = this.change(plan)
    try {
      await this.adopting
    } finally {
      this.adopting = undefined
    }
  }

  /** Ends a pass and all leases, waits for work in flight, and frees all memory. Idempotent. */
  async close(): Promise<void> {
    this.stop.abort(residenceClosed())
    const { feed } = this
    this.feed = undefined
    // First, so that no released slot is refilled.
    const closing = feed?.close()
    for (const lease of this.leases) lease.release()
    await closing
    // Copies of a plan being adopted still write to memory that is freed next. `adopt` reports its own outcome.
    await Promise.allSettled([this.adopting])
    await this.residents.close()
  }

  /** Same as `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  private async change(plan: ResidencePlan): Promise<void> {
    await this.feed?.close()
    this.feed = undefined
    await this.residents.adopt(plan, this.signal, (layer) => this.parts.onLoaded?.(layer))
    // The last layer may have arrived despite the close: a closed model needs no feed.
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
      throw new TypeError('pass: expected no other pass and no adoption in progress')
    const either = signal ? AbortSignal.any([signal, this.signal]) : this.signal
    either.throwIfAborted()
    const { feed, plan } = this
    if (feed === undefined) throw planNotAdopted()
    // Another plan may have been adopted since `pass` was called.
    const layers = plan.layers.filter(({ name }) => !skip.includes(name))
    this.isPassing = true
    try {
      feed.expect(isLast ? layers : [...layers, ...layers])
      for (const [index, layer] of layers.entries()) {
        if (whenHeld !== 'wait' && feed.isHeld(layer)) throw allSlotsHeld(this.leases.size)
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
    // `close` has already released all leases; this one would remain.
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

/** Error of a pass whose model was closed. */
export function residenceClosed(): LoaderError {
  return new LoaderError(
    'ERR_GPUNVME_RESIDENCE_CLOSED',
    'usage',
    'The model was closed: its layers are no longer in memory',
    { next: 'open it again with openResidence' },
  )
}

/** Error of a pass after a failed `adopt`: there is no current plan. */
export function planNotAdopted(): LoaderError {
  return new LoaderError('ERR_GPUNVME_PLAN_NOT_ADOPTED', 'usage', 'No pass is possible: the last adopt failed', {
    next: 'adopt a plan, for example the previous one',
  })
}
