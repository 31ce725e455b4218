import { LoaderError } from '../error.js'
import type { Clock } from '@gpunvme/nvme-spec/transport'
import { requireOneOf } from '../formats/invalid-argument.js'
import { quote } from '../formats/quote.js'
import type { LoadableModel } from '../load/extent.js'
import { requireModel } from '../load/require-model.js'
import { LinkTimesCounter, type LinkTimes } from './link-times.js'
import { Placement, type PlacementOptions } from './placement.js'
import type { ResidencePlan } from './plan.js'
import { nsPerByteOf, type PlacedLayer } from './predict.js'
import { RateWatch, type DriftBand, type RateDrift } from './rate-watch.js'
import type { ObservedRates } from './replan.js'
import { ResidentLease } from './resident-lease.js'

/** Options of `openResidence`. */
export interface ResidentModelOptions extends PlacementOptions {
  /** Aborting ends loading and all later passes. */
  readonly signal?: AbortSignal
  /** Called after each resident layer is loaded. */
  readonly onLoaded?: (layer: PlacedLayer) => void
  /** Tolerance of the drive's rate. */
  readonly drift?: DriftBand
  /**
   * Called between the layers of a pass after the tolerance was exceeded: `replan` makes a plan for the observed rate,
   * `adopt` applies it between passes. An error that it throws ends the pass.
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
 * Totals since the model was opened. Link times include the loading of resident layers. Times are by the store's
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
 * await using resident = await openResidence(model, planResidence(layerSizes(model), options), { copies })
 * for await (using layer of resident.pass()) await compute(layer.memory.gpuPointer)
 * ```
 *
 * @throws TypeError if the plan copies and there is no copy engine; LoaderError (INVALID_ARGUMENT); errors of
 * `openLoader`, of allocation and reading. Then nothing stays allocated.
 */
export async function openResidence(
  model: LoadableModel,
  plan: ResidencePlan,
  options: ResidentModelOptions = {},
): Promise<ResidentModel> {
  requireModel(model)
  const resident = new ResidentModel(model, options)
  try {
    await resident.adopt(plan)
  } catch (error) {
    await resident.close()
    throw error
  }
  return resident
}

/** A model that is partly in memory; the rest is read and copied during passes. */
export class ResidentModel {
  private readonly clock: Clock
  private readonly options: ResidentModelOptions
  private readonly times = new LinkTimesCounter()
  private readonly counts = { passes: 0, layers: 0, waitedForDriveNs: 0, waitedForCopiesNs: 0 }
  private readonly placement: Placement
  private readonly stop = new AbortController()
  private readonly signal: AbortSignal
  private watch: RateWatch | undefined
  /** A difference that `onDrift` has not been called for. */
  private drift: RateDrift | undefined
  private current: ResidencePlan | undefined
  private isAdopted = false
  private leases = 0
  private isPassing = false
  /** The adoption of another plan in progress. */
  private adopting: Promise<void> | undefined
  private closing: Promise<void> | undefined

  /** Use `openResidence`. */
  constructor(model: LoadableModel, options: ResidentModelOptions) {
    const { signal, onLoaded } = options
    this.clock = model.store.clock
    this.options = options
    this.signal = signal ? AbortSignal.any([signal, this.stop.signal]) : this.stop.signal
    const events = {
      times: this.times,
      onRead: (bytes: number, ns: number) => this.watch?.add(bytes, ns),
      onLoaded: (layer: PlacedLayer) => onLoaded?.(layer),
    }
    this.placement = new Placement(model, options, events, this.signal)
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
   * @throws RangeError for an unknown layer in `skip`; LoaderError (INVALID_ARGUMENT) for an unknown `whenHeld`. At the
   * first `next`: TypeError during another pass or `adopt`, LoaderError (PLAN_NOT_ADOPTED) if the last `adopt` failed.
   * Later: VerificationError, TransferError, LoaderError (ALL_SLOTS_HELD), the signal's reason; another pass may
   * follow.
   */
  pass(options: PassOptions = {}): AsyncGenerator<ResidentLease, undefined> {
    const { plan } = this
    requireOneOf('whenHeld', options.whenHeld ?? 'throw', ['throw', 'wait'])
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
    if (this.isPassing || this.leases > 0) throw new TypeError('adopt: expected no pass in progress and no leases')
    if (this.adopting !== undefined) throw new TypeError('adopt: expected no other adoption in progress')
    const isCopying = plan.slots.copies > 0 || (plan.tier === 1 && plan.vram.layers > 0)
    if (isCopying && this.options.copies === undefined)
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
  close(): Promise<void> {
    this.closing ??= this.shutDown()
    return this.closing
  }

  /** Same as `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  private async shutDown(): Promise<void> {
    this.stop.abort(residenceClosed())
    // `adopt` reports its own outcome.
    await Promise.allSettled([this.adopting])
    await this.placement.close()
  }

  private async change(plan: ResidencePlan): Promise<void> {
    this.isAdopted = false
    // Only reads of passes are compared with the plan.
    this.watch = undefined
    this.drift = undefined
    try {
      await this.placement.apply(plan)
      // The last layer may have arrived despite the close.
      this.signal.throwIfAborted()
    } catch (error) {
      await this.placement.closeLanes()
      throw error
    }
    const { drift = {} } = this.options
    this.watch = new RateWatch(nsPerByteOf(plan.options), drift, (change) => (this.drift = change))
    this.current = plan
    this.isAdopted = true
  }

  private async *run({
    skip = [],
    isLast = false,
    whenHeld,
    signal,
  }: PassOptions): AsyncGenerator<ResidentLease, undefined> {
    const either = signal ? AbortSignal.any([signal, this.signal]) : this.signal
    // Checked first: after close, an abandoned pass never ends, and its error would hide the closing.
    either.throwIfAborted()
    if (this.isPassing || this.adopting !== undefined)
      throw new TypeError('pass: expected no other pass and no adoption in progress')
    if (!this.isAdopted) throw planNotAdopted()
    // Another plan may have been adopted since `pass` was called.
    const layers = this.plan.layers.filter(({ name }) => !skip.includes(name))
    this.isPassing = true
    try {
      this.placement.expect(isLast ? layers : [...layers, ...layers])
      for (const [index, layer] of layers.entries()) {
        if (whenHeld !== 'wait') this.placement.refuseHeld(layer)
        yield await this.lend(layer, index, either)
        either.throwIfAborted()
        this.reportDrift()
      }
      this.counts.passes++
    } finally {
      this.isPassing = false
    }
  }

  /** Calls `onDrift` between layers: an error that it throws ends the pass, not a read. */
  private reportDrift(): void {
    const { drift } = this
    this.drift = undefined
    if (drift !== undefined) this.options.onDrift?.(drift)
  }

  private async lend(layer: PlacedLayer, index: number, signal: AbortSignal): Promise<ResidentLease> {
    const { clock, counts } = this
    const askedNs = clock.now()
    const found = await this.placement.take(layer, signal)
    const { lease, stays, readEndNs } = found
    if (signal.aborted && !stays) lease.release()
    signal.throwIfAborted()
    const waitedNs = clock.now() - askedNs
    const forDriveNs = layer.residence === 'nvme' ? Math.min(waitedNs, Math.max(0, readEndNs - askedNs)) : 0
    counts.waitedForDriveNs += forDriveNs
    counts.waitedForCopiesNs += waitedNs - forDriveNs
    counts.layers++
    this.leases++
    const lent = lease.share(() => {
      this.leases--
      if (!stays) lease.release()
    })
    return new ResidentLease(lent, index, layer, found)
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
