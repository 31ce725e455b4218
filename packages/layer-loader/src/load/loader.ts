import type { TraceSink } from '@gpunvme/nvme-spec/transport'
import { describeValue } from '../formats/invalid-argument.js'
import { quote } from '../formats/quote.js'
import { refuseUnmoved } from '../image/moves-no-data.js'
import { checkExtent, memoryNeeded, noChecksums, requireExtent } from './check-extent.js'
import { checkDeadline } from './deadline.js'
import type { LoadableModel, StoredExtent, StoredModel } from './extent.js'
import type { LoadPlan } from './load-plan.js'
import { checkCount, checkLoaderOptions, loadPlanFor, requireSignal, type LoaderOptions } from './options.js'
import { partsOf } from './parts.js'
import { requireModel } from './require-model.js'
import { Scheduler } from './scheduler.js'
import type { LoaderStatistics } from './statistics.js'
import { checkPriority, Ticket, type Priority } from './ticket.js'

const DEFAULT_SLOTS = 3

/** Options of `Loader.request`. */
export interface RequestOptions {
  /** Default: 'soon'. */
  readonly priority?: Priority
  /** Cancels the request. */
  readonly signal?: AbortSignal
  /**
   * Time until the lease, in milliseconds by this machine's clock; then the request fails with LoaderError (DEADLINE).
   * Unlike `AbortSignal.timeout`, a deadline keeps the process alive.
   */
  readonly deadlineMs?: number
}

/**
 * Opens a loader for a model. Nothing is allocated or read before the first request.
 *
 * ```ts
 * await using loader = openLoader(model, { slots: 8 })
 * const ahead = loader.request(model.layer(13), { priority: 'ahead' })
 * using layer = await loader.request(model.layer(12)).lease()
 * ```
 *
 * @throws LoaderError (INVALID_ARGUMENT, UNVERIFIABLE_MEDIA, NO_CHECKSUMS), RangeError or TypeError for invalid
 * options. A model without checksums requires `verify: 'off'`.
 */
export function openLoader(model: StoredModel, options: LoaderOptions = {}): Loader {
  requireModel(model)
  return new Loader(model, options)
}

/**
 * Loads extents of a model into a fixed number of slots, the most urgent first, and lends them after verification.
 * Reads are submitted in batches of a few commands, only as many as keep the store busy (`Window`): an urgent request
 * waits for these, not for a whole layer.
 */
export class Loader<M extends LoadableModel = StoredModel> {
  /** Number of slots; `Infinity` with `memoryBytes`. */
  readonly slots: number
  /** Longest extent that it can load, in bytes of memory. */
  readonly slotBytes: number
  /** @internal */
  readonly options: LoaderOptions
  /** @internal */
  readonly model: M
  private readonly scheduler: Scheduler
  private requests = 0
  private isEnding = false

  constructor(model: M, options: LoaderOptions) {
    const { memoryBytes, slots = DEFAULT_SLOTS, verify = 'full' } = options
    refuseUnmoved(model.store)
    if (memoryBytes !== undefined && (options.slots ?? options.slotBytes) !== undefined)
      throw new TypeError('memoryBytes: expected neither slots nor slotBytes with it')
    checkCount('slots', slots)
    checkLoaderOptions(options)
    loadPlanFor(model.store, NOTHING, options)
    if (!model.hasChecksums && verify !== 'off') throw noChecksums(`model ${quote(model.name)}`)
    this.model = model
    this.options = { ...options, ...(options.trace && { trace: this.guarded(options.trace) }) }
    this.slots = memoryBytes === undefined ? slots : Infinity
    this.slotBytes = memoryBytes === undefined ? (options.slotBytes ?? this.largestLayerBytes()) : memoryBytes
    if (memoryBytes === undefined) checkCount('slotBytes', this.slotBytes)
    else if (typeof memoryBytes !== 'number' || !(memoryBytes >= 1))
      throw new RangeError(`memoryBytes: expected a number of bytes, at least 1, got ${describeValue(memoryBytes)}`)
    this.scheduler = new Scheduler(model, this.options, this.slots, this.slotBytes)
  }

  get statistics(): LoaderStatistics {
    return this.scheduler.meter.snapshot
  }

  /** Number of slots held by leases. */
  get held(): number {
    return this.scheduler.leases.size
  }

  /**
   * Requests an extent. Reading begins when its turn comes and a slot is free. Each request has memory and reads of its
   * own, even for the same extent: `openExpertCache` shares them.
   * @throws LoaderError (INVALID_ARGUMENT, NO_CHECKSUMS), ExtentTooLongError if it exceeds the slots, RangeError for an
   * invalid deadline, TypeError after the loader was closed. NO_CHECKSUMS: part of it lacks checksums that `verify`
   * requires.
   */
  request(extent: StoredExtent, { priority = 'soon', signal, deadlineMs }: RequestOptions = {}): Ticket {
    if (this.isEnding) throw new TypeError('request: expected an open loader, got a closed one')
    const plan = this.plan(extent)
    checkExtent(extent, plan, this)
    if (deadlineMs !== undefined) checkDeadline(deadlineMs)
    requireSignal(signal)
    checkPriority(priority)
    const ticket = new Ticket({ extent, index: this.requests++, plan, signal, deadlineMs }, priority, this.scheduler)
    this.scheduler.add(ticket)
    return ticket
  }

  /** Returns the memory and reads for an extent, without reading. */
  plan(extent: StoredExtent): LoadPlan {
    requireExtent(extent)
    return loadPlanFor(this.model.store, extent, this.options)
  }

  /**
   * Splits an extent between tensors into parts of at most `maxBytes`, which can be requested like any extent. With
   * `memoryBytes`, set it lower, so that one part can be used while the next one is read.
   * @param maxBytes default: `slotBytes`; with `memoryBytes`, all of it
   * @returns the extent itself if it fits
   * @throws LoaderError (INVALID_ARGUMENT; TENSOR_TOO_LONG for a tensor that exceeds a part), RangeError for less than
   * 1 byte
   */
  parts(extent: StoredExtent, maxBytes = this.slotBytes): StoredExtent[] {
    requireExtent(extent)
    if (!(maxBytes >= 1)) throw new RangeError(`maxBytes: expected at least 1, got ${maxBytes}`)
    return partsOf(extent, maxBytes, (part) => memoryNeeded(this.plan(part), this.options))
  }

  /** Yields the statistics after each change, skipping intermediate ones, until the loader ends. */
  async *progress(): AsyncGenerator<LoaderStatistics, undefined> {
    yield* this.scheduler.changes.watch(() => this.statistics)
  }

  /**
   * Rejects new requests, cancels those without a lease, and waits for reads in flight. Existing leases stay valid;
   * each slot is freed when its lease is released.
   */
  async end(reason: unknown = new DOMException('the loader was closed', 'AbortError')): Promise<void> {
    this.isEnding = true
    await this.scheduler.shutDown(reason)
  }

  /** Ends the loader and all leases. Idempotent. */
  async close(): Promise<void> {
    await this.end()
    for (const lease of this.scheduler.leases) lease.release()
  }

  /** Same as `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  /**
   * Allocates the slots, as the first request does otherwise. With `memoryBytes`, nothing. @throws LoaderError
   * (SLOT_MEMORY); other errors of `alloc`. @internal
   */
  allocate(): void {
    this.scheduler.allocate()
  }

  /** Resolves when no extent is being loaded. @internal */
  settled(): Promise<void> {
    return this.scheduler.settled()
  }

  /** Wraps a sink: if it throws, the error only ends the loader. */
  private guarded(trace: TraceSink): TraceSink {
    return (event) => {
      try {
        trace(event)
      } catch (error) {
        void this.scheduler.shutDown(error)
      }
    }
  }

  private largestLayerBytes(): number {
    const { model } = this
    return model.layers.reduce((most, name) => Math.max(most, this.plan(model.layer(name)).memoryBytes), 1)
  }
}

/** An empty extent, to validate options. */
const NOTHING: StoredExtent = { name: 'nothing', pieces: [], checks: [] }
