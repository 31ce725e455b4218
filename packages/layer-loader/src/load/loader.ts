import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { quote } from '../formats/quote.js'
import { refuseUnmoved } from '../image/moves-no-data.js'
import { cutBites } from './bites.js'
import { deferred } from './deferred.js'
import { publish, type LoadEvent } from './events.js'
import type { StoredExtent, StoredModel } from './extent.js'
import { Job } from './job.js'
import { Lease, type Loaded } from './lease.js'
import type { LoadPlan } from './load-plan.js'
import { loadPlanFor, unitsToCheck, type LoaderOptions } from './options.js'
import { Reader } from './reader.js'
import { Slots, type Slot } from './slots.js'
import { LoadMeter, type LoaderStatistics } from './statistics.js'
import { byUrgency, Ticket, type Priority, type TicketDesk } from './ticket.js'

const DEFAULT_SLOTS = 3

/** What a bite is a multiple of: the chunks of an image, and of every store's blocks. */
const BITE_UNIT_BYTES = 1024 * 1024

export interface RequestOptions {
  /** 'soon' when not given. */
  readonly priority?: Priority
  /** Cancels it. */
  readonly signal?: AbortSignal
}

/**
 * Opens a loader of a model. Nothing is allocated or read before the first request.
 *
 * ```ts
 * await using loader = openLoader(model, { slots: 8 })
 * const ahead = loader.request(model.layer(13), { priority: 'ahead' })
 * using layer = await loader.request(model.layer(12)).lease()
 * ```
 *
 * @throws RangeError for options that cannot be meant; UnverifiableMediaError; NoChecksumsError for a model without
 * checksums, unless `verify` is 'off'.
 */
export function openLoader(model: StoredModel, options: LoaderOptions = {}): Loader {
  return new Loader(model, options)
}

/**
 * Brings extents of a model into a fixed number of slots of memory, the most urgent first, and lends them out once they
 * are proven. Reads are dealt out in bites of a few commands, as many in flight as keep the store busy, so that what is
 * wanted now waits for a few milliseconds of reading ahead, and not for a layer.
 */
export class Loader {
  /** How many slots there are, and how long each is. */
  readonly slots: number
  readonly slotBytes: number
  private readonly model: StoredModel
  private readonly options: LoaderOptions
  private readonly meter: LoadMeter
  private readonly reader: Reader
  private readonly biteBytes: number
  private readonly stop = new AbortController()
  /** The most urgent first. */
  private readonly waiting: Ticket[] = []
  private readonly loading = new Set<Job>()
  private readonly ready = new Map<Ticket, Loaded>()
  private readonly leases = new Set<Lease>()
  private memory: Slots | undefined
  private requests = 0
  private lastReadNs = -Infinity
  private quiet = deferred<undefined>()
  private change = deferred<undefined>()
  private isEnding = false

  constructor(model: StoredModel, options: LoaderOptions) {
    const { slots = DEFAULT_SLOTS, verify = 'full', signal } = options
    refuseUnmoved(model.store)
    if (!Number.isSafeInteger(slots) || slots < 1) throw new RangeError(`slots: expected at least 1, got ${slots}`)
    if (!model.checkable && verify !== 'off') throw new NoChecksumsError(model.name)
    unitsToCheck(verify)
    this.model = model
    this.options = options
    this.slots = slots
    this.slotBytes = options.slotBytes ?? this.largestLayerBytes()
    this.meter = new LoadMeter(model.store.clock)
    this.biteBytes = Math.max(1, Math.round(model.store.busyBytes / 4 / BITE_UNIT_BYTES)) * BITE_UNIT_BYTES
    this.reader = new Reader(model, options, this.meter, this.stop.signal, {
      next: () => this.mostUrgentJob(),
      settle: (job) => this.settle(job),
    })
    if (signal?.aborted === true) this.stop.abort(signal.reason)
    else signal?.addEventListener('abort', this.onAbort, { once: true })
  }

  get statistics(): LoaderStatistics {
    return this.meter.snapshot
  }

  /** Slots that leases hold. */
  get held(): number {
    return this.leases.size
  }

  /**
   * Asks for an extent, and begins to read it as soon as its turn comes and a slot is free.
   * @throws ExtentTooLongError where no slot could hold it; TypeError once the loader is closed.
   */
  request(extent: StoredExtent, { priority = 'soon', signal }: RequestOptions = {}): Ticket {
    if (this.isEnding) throw new TypeError('request: expected a loader that is open, got one that is closed')
    const plan = this.plan(extent)
    if (plan.memoryBytes > this.slotBytes) throw new ExtentTooLongError(extent, plan.memoryBytes, this.slotBytes)
    const ticket = new Ticket({ extent, index: this.requests++, plan, signal }, priority, this.desk)
    this.tell('requested', ticket)
    if (this.stop.signal.aborted) ticket.fail(this.stop.signal.reason)
    else if (signal?.aborted === true) ticket.fail(signal.reason)
    else {
      this.enqueue(ticket)
      this.proceed()
    }
    return ticket
  }

  /** What loading an extent takes, memory above all; nothing is read. */
  plan(extent: StoredExtent): LoadPlan {
    return loadPlanFor(this.model.store, extent, this.options)
  }

  /** The statistics each time that they have changed, the newest only; it ends with the loader. */
  async *progress(): AsyncGenerator<LoaderStatistics, undefined> {
    while (!this.isEnding) {
      await this.change.promise
      yield this.statistics
    }
  }

  /**
   * Takes no more requests, cancels those that have not been leased, and waits for what is in flight. Leases that are
   * out stay valid; each one's slot is freed when it is released.
   */
  async end(reason: unknown = new DOMException('the loader was closed', 'AbortError')): Promise<void> {
    this.isEnding = true
    this.stop.abort(reason)
    this.failAll()
    this.changed()
    while (this.loading.size > 0) await this.quiet.promise
    this.memory?.close()
    this.options.signal?.removeEventListener('abort', this.onAbort)
  }

  /** Ends the loader and every lease. Closing twice is harmless. */
  async close(): Promise<void> {
    await this.end()
    for (const lease of this.leases) lease.release()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  private readonly onAbort = (): void => {
    this.stop.abort(this.options.signal?.reason)
    this.failAll()
  }

  private readonly desk: TicketDesk = {
    cancel: (ticket, reason) => {
      this.drop(ticket, reason)
      this.proceed()
    },
    reconsider: (ticket) => {
      const loaded = this.ready.get(ticket)
      if (loaded !== undefined && ticket.isClaimed) this.lend(ticket, loaded)
      this.waiting.sort(byUrgency)
      this.proceed()
    },
  }

  private largestLayerBytes(): number {
    const { model } = this
    return model.layers.reduce((most, name) => Math.max(most, this.plan(model.layer(name)).memoryBytes), 1)
  }

  private enqueue(ticket: Ticket): void {
    this.waiting.push(ticket)
    this.waiting.sort(byUrgency)
  }

  /** Does all that can be done now: gives slots to tickets, and reads to the store. */
  private proceed(): void {
    if (this.stop.signal.aborted) return
    for (let ticket = this.waiting[0]; ticket !== undefined; ticket = this.waiting[0]) {
      const slot = this.slotFor(ticket)
      if (slot === undefined) break
      this.waiting.shift()
      this.begin(new Job(ticket, cutBites(ticket.plan.transfers, this.biteBytes), slot))
    }
    this.reader.fill()
  }

  private begin(job: Job): void {
    const { ticket, slot } = job
    ticket.moveTo('loading')
    this.loading.add(job)
    this.tell('loading', ticket, slot)
    // One without bytes has nothing to wait for.
    if (job.isDone) void this.finish(job)
  }

  /** A slot: a free one, or that of something less urgent which nobody has asked for yet. */
  private slotFor(ticket: Ticket): Slot | undefined {
    const memory = this.open()
    const slot = memory?.take()
    if (memory === undefined || slot !== undefined) return slot
    const spare = leastUrgent([...this.ready.keys()], ticket.rank)
    if (spare === undefined) {
      this.preemptFor(ticket)
      return undefined
    }
    const loaded = this.ready.get(spare)!
    this.ready.delete(spare)
    this.putBack(spare, loaded.statistics.bytes)
    memory.give(loaded.slot)
    return memory.take()
  }

  /** Allocates the slots, at the first request. Where they cannot be had, nothing can be loaded. */
  private open(): Slots | undefined {
    const { model, options, slots, slotBytes } = this
    const { where = 'host', poison = false, dma = model.store.dma } = options
    try {
      this.memory ??= new Slots(dma, slots, slotBytes, where, poison)
    } catch (error) {
      this.stop.abort(error)
      this.failAll()
    }
    return this.memory
  }

  /** Stops reading something less urgent; its slot comes free once what is in flight has ended. */
  private preemptFor({ rank }: Ticket): void {
    const jobs = [...this.loading]
    const comingFree = jobs.filter(({ isOver }) => isOver).length
    if (comingFree >= this.waiting.filter((other) => other.rank <= rank).length) return
    const running = jobs.filter(({ isOver }) => !isOver)
    const passed = leastUrgent(
      running.map(({ ticket }) => ticket),
      rank,
    )
    const job = running.find(({ ticket }) => ticket === passed)
    if (job !== undefined) job.preempted = true
  }

  private mostUrgentJob(): Job | undefined {
    let best: Job | undefined
    for (const job of this.loading) {
      if (job.wantsMore && (best === undefined || byUrgency(job.ticket, best.ticket) < 0)) best = job
    }
    return best
  }

  /** Sees whether a job has come to its end. */
  private settle(job: Job): void {
    if (job.underWay === 0 && this.loading.has(job)) {
      if (job.failure !== undefined) this.giveUp(job, () => this.drop(job.ticket, job.failure!.error))
      else if (job.preempted) this.giveUp(job, () => this.putBack(job.ticket, job.bytes))
      else if (job.isDone) void this.finish(job)
    }
    this.proceed()
  }

  private async finish(job: Job): Promise<void> {
    const { ticket, slot, plan, bytes, commands, startNs, endNs, verifyNs } = job
    try {
      job.underWay++
      await this.reader.arrange(job)
    } catch (error) {
      job.failure = { error }
    }
    job.underWay--
    if (job.isOver) {
      this.settle(job)
      return
    }
    this.loading.delete(job)
    // Reads are handed over ahead of their turn; until those before have ended, the store is busy with them.
    const readNs = bytes === 0 ? 0 : endNs - Math.max(startNs, Math.min(this.lastReadNs, endNs))
    this.lastReadNs = Math.max(this.lastReadNs, endNs)
    const verified = this.options.verify !== 'off' && plan.checksAll
    const loaded: Loaded = {
      name: ticket.extent.name,
      index: ticket.index,
      slot,
      tensors: plan.pieces,
      lengthBytes: plan.memoryBytes,
      verified,
      statistics: { bytes, commands, readNs, verifyNs, startNs, endNs },
    }
    const tensors = plan.pieces.length
    this.meter.loaded({ tensors, tensorsVerified: verified ? tensors : 0, wantedBytes: plan.wantedBytes })
    this.ready.set(ticket, loaded)
    ticket.arrive(loaded)
    this.tell('ready', ticket, slot)
    if (ticket.isClaimed) this.lend(ticket, loaded)
    this.changed()
    this.proceed()
  }

  private lend(ticket: Ticket, loaded: Loaded): void {
    const { slot } = loaded
    const lease = new Lease(loaded, () => {
      this.leases.delete(lease)
      this.meter.leaseEnds()
      this.tell('released', ticket, slot)
      this.memory?.give(slot)
      this.proceed()
    })
    this.ready.delete(ticket)
    this.leases.add(lease)
    this.meter.leaseBegins()
    ticket.lend(lease)
    this.tell('leased', ticket, slot)
  }

  /** Something more urgent takes its slot: it is read again when its turn comes. */
  private putBack(ticket: Ticket, bytes: number): void {
    this.meter.add('discardedBytes', bytes)
    ticket.moveTo('waiting')
    this.tell('passed over', ticket)
    this.enqueue(ticket)
  }

  private giveUp(job: Job, then: () => void): void {
    this.loading.delete(job)
    this.memory?.give(job.slot)
    then()
    this.changed()
  }

  /** Fails a ticket, wherever it stands. One that is being read keeps its slot until what is in flight has ended. */
  private drop(ticket: Ticket, reason: unknown): void {
    if (ticket.state === 'leased' || ticket.state === 'failed') return
    const at = this.waiting.indexOf(ticket)
    if (at >= 0) this.waiting.splice(at, 1)
    const loaded = this.ready.get(ticket)
    if (loaded !== undefined) {
      this.ready.delete(ticket)
      this.meter.add('discardedBytes', loaded.statistics.bytes)
      this.memory?.give(loaded.slot)
    }
    for (const job of this.loading) {
      if (job.ticket !== ticket) continue
      job.failure ??= { error: reason }
      if (job.underWay === 0) this.giveUp(job, () => undefined)
    }
    ticket.fail(reason)
    this.tell('failed', ticket, undefined, reason)
  }

  private failAll(): void {
    const reason: unknown = this.stop.signal.reason
    const tickets = [...this.waiting, ...this.ready.keys(), ...[...this.loading].map(({ ticket }) => ticket)]
    for (const ticket of tickets) this.drop(ticket, reason)
  }

  private changed(): void {
    this.change.resolve(undefined)
    this.change = deferred()
    if (this.loading.size > 0) return
    this.quiet.resolve(undefined)
    this.quiet = deferred()
  }

  private tell(kind: LoadEvent['kind'], ticket: Ticket, slot?: Slot, error?: unknown): void {
    const { model, options } = this
    const { name } = ticket.extent
    const timeNs = model.store.clock.now()
    publish(() => ({
      kind,
      model: model.name,
      extent: name,
      index: ticket.index,
      timeNs,
      ...(slot && { slot: slot.index, generation: slot.generation }),
      ...(error !== undefined && { error }),
    }))
    if (slot !== undefined) options.trace?.({ timeNs, track: `slot ${slot.index}`, name: `${kind} ${name}` })
  }
}

/** Of the tickets that nobody has claimed and that are less urgent than `rank`, the one that can wait longest. */
function leastUrgent(tickets: readonly Ticket[], rank: number): Ticket | undefined {
  return tickets
    .filter((ticket) => ticket.rank > rank && !ticket.isClaimed)
    .sort(byUrgency)
    .at(-1)
}

/** No slot of the loader is long enough. */
export class ExtentTooLongError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_EXTENT_TOO_LONG'
  readonly category = 'infeasible'
  readonly neededBytes: number
  readonly slotBytes: number

  constructor({ name }: StoredExtent, neededBytes: number, slotBytes: number) {
    super(`${quote(name)} takes ${neededBytes} bytes of memory; the loader's slots have ${slotBytes}`, {
      next: `open the loader with { slotBytes: ${neededBytes} } or more`,
    })
    this.neededBytes = neededBytes
    this.slotBytes = slotBytes
  }
}

/** A model lies on the store as its publisher wrote it: nothing says what its bytes ought to be. */
export class NoChecksumsError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NO_CHECKSUMS'
  readonly category = 'usage'

  constructor(model: string) {
    super(`Model ${quote(model)} has no checksums to verify its bytes against`, {
      facts: ['it is read in place, from the files that it was published in'],
      next: 'load it with { verify: "off" }, or pack() it: an image has checksums',
    })
  }
}
