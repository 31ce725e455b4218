import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { HostBuffer } from '../buffer-pool.js'
import type { PackedLayer } from '../image/manifest.js'
import { refuseUnmoved } from '../image/moves-no-data.js'
import type { PackedModel } from '../image/open-image.js'
import { verifyChunks } from '../verify-chunks.js'
import { LayerLease } from './lease.js'
import { planStream, type StreamOptions, type StreamShape } from './options.js'
import { Slots } from './slots.js'
import { StatisticsCounter, type LayerStatistics, type StreamStatistics } from './statistics.js'

/** A layer on its way into a slot. */
interface Loading {
  readonly layer: PackedLayer
  readonly index: number
  readonly slot: HostBuffer
  /** Resolves when the slot holds the layer, proven unless that was not wanted. */
  readonly loaded: Promise<LayerStatistics>
}

/**
 * Streams a model's layers, in order, through a ring of slots: while one is used, the next are read, as many as there
 * are free slots, so that the drive never waits for a consumer that keeps up.
 *
 * ```ts
 * for await (using layer of streamLayers(model)) compute(layer.tensor('blk.0.attn_q.weight'))
 * ```
 *
 * @throws RangeError for options that cannot be meant, UnverifiableMediaError. Nothing is allocated or read before the first `next`.
 */
export function streamLayers(model: PackedModel, options: StreamOptions = {}): LayerStream {
  return new LayerStream(model, options)
}

/**
 * The leases of a stream, one after the other. How it ends decides what becomes of those that are still held:
 *
 * - After the last layer, an abort or an error, they stay valid; each one's memory is freed when it is released.
 * - When the loop is left early, or `close` is called, they end too.
 *
 * In every case reads in flight are waited for before their slots are freed, and what follows is `done`.
 */
export class LayerStream implements AsyncIterableIterator<LayerLease, undefined> {
  /** Layers, slots and bytes, known before anything is allocated. */
  readonly shape: StreamShape
  private readonly model: PackedModel
  private readonly options: StreamOptions
  private readonly counter = new StatisticsCounter()
  private readonly stop = new AbortController()
  private readonly leases = new Set<LayerLease>()
  private readonly queue: Loading[] = []
  private slots: Slots | undefined
  private nextIndex = 0
  private lastLoaded: Promise<unknown> = Promise.resolve()
  private turn: Promise<unknown> = Promise.resolve()
  private wake: () => void = () => undefined
  private ending: Promise<void> | undefined
  private closed = false

  constructor(model: PackedModel, options: StreamOptions) {
    refuseUnmoved(model.store)
    this.shape = planStream(model, options)
    this.model = model
    this.options = options
  }

  get statistics(): StreamStatistics {
    return this.counter.snapshot
  }

  /**
   * The next layer's lease. Calls may overlap; they are served in order.
   * @throws VerificationError, TransferError, AllSlotsHeldError, the signal's reason; the stream is then at its end.
   */
  next(): Promise<IteratorResult<LayerLease, undefined>> {
    const result = this.turn.then(() => this.step())
    this.turn = result.catch(() => undefined)
    return result
  }

  /** Called by a loop that is left early. */
  async return(): Promise<IteratorResult<LayerLease, undefined>> {
    await this.close()
    return { done: true, value: undefined }
  }

  /** Ends the stream and every lease, once what is in flight has ended. Closing twice is harmless. */
  async close(): Promise<void> {
    this.closed = true
    this.stop.abort(new Error('the stream was closed'))
    this.wake()
    await this.end()
    for (const lease of this.leases) lease.release()
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  private async step(): Promise<IteratorResult<LayerLease, undefined>> {
    if (this.ending !== undefined) return { done: true, value: undefined }
    try {
      this.open()
      const loading = await this.nextLoading()
      const statistics = await loading?.loaded
      this.stop.signal.throwIfAborted()
      if (loading !== undefined && statistics !== undefined) {
        this.queue.shift()
        return { done: false, value: this.lend(loading, statistics) }
      }
    } catch (error) {
      this.stop.abort(error)
      await this.end()
      if (!this.closed) throw error
    }
    await this.end()
    return { done: true, value: undefined }
  }

  /** Allocates the slots and listens to the caller's signal, at the first step. */
  private open(): void {
    if (this.slots !== undefined) return
    const { signal, poison = false } = this.options
    signal?.throwIfAborted()
    this.slots = new Slots(this.model.store.dma, this.shape.slots, this.shape.slotBytes, poison)
    signal?.addEventListener('abort', this.onAbort, { once: true })
  }

  private readonly onAbort = (): void => {
    this.stop.abort(this.options.signal?.reason)
    this.wake()
  }

  /** The layer whose turn it is; undefined after the last one. */
  private async nextLoading(): Promise<Loading | undefined> {
    for (;;) {
      this.fill()
      const [head] = this.queue
      if (head !== undefined || this.nextIndex === this.shape.layers.length) return head
      if (this.options.whenHeld !== 'wait') throw new AllSlotsHeldError(this.shape.slots)
      await new Promise<void>((resolve) => (this.wake = resolve))
      this.stop.signal.throwIfAborted()
    }
  }

  /** Starts to load as many layers as there are free slots. */
  private fill(): void {
    const { layers } = this.shape
    while (this.nextIndex < layers.length && !this.stop.signal.aborted) {
      const slot = this.slots?.take()
      if (slot === undefined) return
      const index = this.nextIndex++
      const layer = layers[index]!
      const loaded = this.load(layer, index, slot, this.lastLoaded)
      // Whoever asks for this layer hears of its failure; until then, nobody listens.
      loaded.catch(() => undefined)
      this.lastLoaded = loaded
      this.queue.push({ layer, index, slot, loaded })
    }
  }

  private async load(
    layer: PackedLayer,
    index: number,
    slot: HostBuffer,
    before: Promise<unknown>,
  ): Promise<LayerStatistics> {
    const { model, shape, counter } = this
    const { verify = true, timeoutNs, onProgress } = this.options
    const { signal } = this.stop
    const limits = { signal, ...(timeoutNs !== undefined && { timeoutNs }) }
    const { offsetBytes, lengthBytes } = layer
    const transfers = lengthBytes === 0 ? [] : [{ offsetBytes, lengthBytes, memoryBytes: 0 }]
    const summary = await model.store.read(transfers, slot.memory, limits)
    // Layers are verified and counted in order, so that the one that is waited for is not held up by its successors.
    await before
    const readNs = counter.read(summary)
    const bytes = slot.bytes.subarray(0, layer.lengthBytes)
    const verifyNs = verify ? await verifyChunks(model, layer, bytes, 0, signal) : 0
    counter.loaded(layer.tensors.length, verify, verifyNs)
    const { layers, totalBytes } = shape
    onProgress?.({ layer: layer.name, index, layers: layers.length, totalBytes, statistics: counter.snapshot })
    return { bytes: summary.bytes, commands: summary.commands, readNs, verifyNs }
  }

  private lend({ layer, index, slot }: Loading, statistics: LayerStatistics): LayerLease {
    const { verify = true } = this.options
    const lease = new LayerLease(layer, index, verify, statistics, slot, () => {
      this.leases.delete(lease)
      this.slots?.give(slot)
      this.fill()
      this.wake()
    })
    this.leases.add(lease)
    return lease
  }

  /** Waits for what is in flight, then frees every slot that no lease holds. */
  private end(): Promise<void> {
    this.ending ??= (async () => {
      await Promise.allSettled(this.queue.map(({ loaded }) => loaded))
      for (const { slot } of this.queue.splice(0)) this.slots?.give(slot)
      this.slots?.close()
      this.options.signal?.removeEventListener('abort', this.onAbort)
    })()
    return this.ending
  }
}

/** The consumer holds every slot and asks for another layer. */
export class AllSlotsHeldError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_ALL_SLOTS_HELD'
  readonly category = 'usage'

  constructor(slots: number) {
    super(`No slot is free for the next layer: leases hold all ${slots}`, {
      next:
        'release() each layer when done with it, or `using`; give more slots; or { whenHeld: "wait" } where other ' +
        'code releases them',
    })
  }
}
