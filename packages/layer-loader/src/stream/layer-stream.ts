import { LoaderError } from '../error.js'
import { requireOneOf } from '../formats/invalid-argument.js'
import type { StoredExtent, StoredModel } from '../load/extent.js'
import type { Lease } from '../load/lease.js'
import { Loader } from '../load/loader.js'
import type { LoaderStatistics } from '../load/statistics.js'
import type { Ticket } from '../load/ticket.js'
import { extentsOf, planStream, type StreamOptions, type StreamShape } from './options.js'
import { StatisticsCounter, type StreamStatistics } from './statistics.js'

/** A requested layer, or a part of one. */
interface Coming {
  readonly ticket: Ticket
  /** Resolves once it and all layers before it are loaded and reported. */
  readonly loaded: Promise<void>
}

/**
 * Streams a model's layers in order through a ring of slots: while one is used, the next ones are read into the free
 * slots, so that the drive never waits for a consumer that keeps up.
 *
 * ```ts
 * for await (using layer of streamLayers(model)) compute(layer.tensor('blk.0.attn_q.weight'))
 * ```
 *
 * Nothing is allocated or read before the first `next`. With `slotBytes`, a layer that takes more is loaded in
 * parts, with a lease for each: `lease.part`.
 * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNVERIFIABLE_MEDIA, NO_CHECKSUMS, TENSOR_TOO_LONG),
 * RangeError for invalid options.
 */
export function streamLayers(model: StoredModel, options: StreamOptions = {}): LayerStream {
  return new LayerStream(model, options)
}

/**
 * The leases of a stream, in order. Its end affects leases that are still held:
 *
 * - After the last layer, an abort or an error, they stay valid; each one's memory is freed on release.
 * - After an early exit of the loop, or `close`, they end too.
 *
 * In all cases, slots are freed only after reads in flight have ended, and further calls of `next` return `done`.
 */
export class LayerStream implements AsyncIterableIterator<Lease, undefined> {
  /** Layers, slots and bytes, known before anything is allocated. */
  readonly shape: StreamShape
  private readonly model: StoredModel
  private readonly options: StreamOptions
  private readonly loader: Loader
  private readonly counter = new StatisticsCounter()
  private readonly queue: Coming[] = []
  private readonly extents: Iterator<{ readonly index: number; readonly extent: StoredExtent }, undefined>
  private lastLoaded: Promise<void> = Promise.resolve()
  private turn: Promise<unknown> = Promise.resolve()
  private isOver = false
  private isClosed = false

  constructor(model: StoredModel, options: StreamOptions) {
    this.model = model
    this.options = options
    requireOneOf('whenHeld', options.whenHeld ?? 'throw', ['throw', 'wait'])
    this.shape = planStream(model, options)
    const { slots, slotBytes } = this.shape
    this.loader = new Loader(model, { ...options, slots: Math.max(1, slots), slotBytes })
    this.extents = this.inOrder()
  }

  get statistics(): StreamStatistics {
    return this.counter.snapshot
  }

  /** Detailed statistics, including layers that are being read. */
  get loaderStatistics(): LoaderStatistics {
    return this.loader.statistics
  }

  /**
   * Returns the lease of the next layer. Overlapping calls are served in order. An error ends the stream.
   * @throws VerificationError, TransferError, LoaderError (ALL_SLOTS_HELD, SLOT_MEMORY), the signal's reason.
   */
  next(): Promise<IteratorResult<Lease, undefined>> {
    const result = this.turn.then(() => this.step())
    this.turn = result.catch(() => undefined)
    return result
  }

  /** Called by an early exit of a loop. */
  async return(): Promise<IteratorResult<Lease, undefined>> {
    await this.close()
    return { done: true, value: undefined }
  }

  /** Ends the stream and all leases, after reads in flight. Idempotent. */
  async close(): Promise<void> {
    this.isClosed = true
    this.isOver = true
    await this.loader.close()
  }

  /** Returns the stream: it can be iterated once. */
  [Symbol.asyncIterator](): this {
    return this
  }

  /** Same as `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  private async step(): Promise<IteratorResult<Lease, undefined>> {
    try {
      const coming = this.isOver ? undefined : this.head()
      if (coming !== undefined) {
        await coming.loaded
        const lease = await coming.ticket.lease()
        this.queue.shift()
        this.ask()
        return { done: false, value: lease }
      }
    } catch (error) {
      await this.end()
      if (!this.isClosed) throw error
    }
    await this.end()
    return { done: true, value: undefined }
  }

  /** Returns the next layer; undefined after the last one. */
  private head(): Coming | undefined {
    const { signal, whenHeld } = this.options
    if (signal?.aborted === true) throw signal.reason
    this.ask()
    const [coming] = this.queue
    const { slots, held } = this.loader
    const neverComes = coming?.ticket.state === 'waiting' && held === slots
    if (neverComes && whenHeld !== 'wait') throw allSlotsHeld(slots)
    return coming
  }

  /** Requests as many extents as there are slots: the next one starts as soon as one is released. */
  private ask(): void {
    while (!this.isOver && this.queue.length < this.shape.slots) {
      const { value } = this.extents.next()
      if (value === undefined) break
      const { index, extent } = value
      const ticket = this.loader.request(extent)
      const loaded = this.watch(ticket, index, this.lastLoaded)
      // `next` reports the failure; until then, the promise has no listener.
      loaded.catch(() => undefined)
      this.lastLoaded = loaded
      this.queue.push({ ticket, loaded })
    }
  }

  /** Yields the extents to request, each with the index of its layer. Those of later layers are not created yet. */
  private *inOrder(): Generator<{ readonly index: number; readonly extent: StoredExtent }, undefined> {
    for (const [index, layer] of this.shape.layers.entries())
      for (const extent of extentsOf(this.model, layer, this.options)) yield { index, extent }
  }

  private async watch(ticket: Ticket, index: number, before: Promise<void>): Promise<void> {
    const { name, part, tensors, verified, statistics } = await ticket.ready()
    await before
    this.counter.add(tensors.length, verified, statistics, part)
    const { layers, totalBytes } = this.shape
    const layer = part?.extent ?? name
    this.options.onProgress?.({ layer, index, part, layers: layers.length, totalBytes, statistics: this.statistics })
  }

  /** Waits for reads in flight, then frees all slots that the consumer's leases do not hold. */
  private async end(): Promise<void> {
    this.isOver = true
    await this.loader.end()
  }
}

/** Error of requesting another layer while the consumer holds all slots. */
export function allSlotsHeld(slots: number): LoaderError {
  const headline = `No free slot for the next layer: leases hold all ${slots}`
  return new LoaderError('ERR_GPUNVME_ALL_SLOTS_HELD', 'usage', headline, {
    next:
      'release() each layer after use (or declare it with `using`), set more slots, or set { whenHeld: "wait" } if other ' +
      'code releases them',
  })
}
