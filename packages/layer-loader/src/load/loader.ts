import { optionalNodeModule } from '@gpunvme/nvme-spec/runtime'
import type { TraceSink } from '@gpunvme/nvme-spec/transport'
import { describeValue } from '../formats/invalid-argument.js'
import { quote } from '../formats/quote.js'
import { refuseUnmoved } from '../image/moves-no-data.js'
import { Announcer } from './announcer.js'
import { requireModel } from './require-model.js'
import { cutBites } from './bites.js'
import { Changes } from './changes.js'
import { checkExtent, memoryNeeded, missingGpuSupport, noChecksums, requireExtent } from './check-extent.js'
import { deferred } from './deferred.js'
import type { LoadableModel, StoredExtent, StoredModel } from './extent.js'
import { Job } from './job.js'
import { Lease, type Loaded } from './lease.js'
import type { LoadPlan } from './load-plan.js'
import { checkCount, checkLoaderOptions, loadPlanFor, requireSignal, type LoaderOptions } from './options.js'
import { partsOf } from './parts.js'
import { Reader } from './reader.js'
import { extentMemoryError, isExhausted } from './slot-memory-error.js'
import { EqualSlots, FittingSlots, type Slot, type SlotSource } from './slots.js'
import { LoadMeter, type LoaderStatistics } from './statistics.js'
import { checkDeadline } from './deadline.js'
import { byUrgency, checkPriority, Ticket, type Priority, type TicketDesk } from './ticket.js'

const DEFAULT_SLOTS = 3

/** With `memoryBytes`, memory is allocated for this many extents that have bytes to request: the drive stays busy. */
const PREPARED_EXTENTS = 2

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
 * Reads are submitted in bites of a few commands, only as many as keep the store busy (`Window`): an urgent request
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
  private readonly meter: LoadMeter
  private readonly reader: Reader
  private readonly stop = new AbortController()
  /** Waiting tickets, the most urgent first. */
  private readonly waiting: Ticket[] = []
  private readonly loading = new Set<Job>()
  private readonly ready = new Map<Ticket, Loaded>()
  private readonly leases = new Set<Lease>()
  private memory: SlotSource | undefined
  private requests = 0
  private readonly announcer: Announcer
  private readonly changes = new Changes()
  private quiet = deferred<undefined>()
  private isEnding = false

  constructor(model: M, options: LoaderOptions) {
    const { memoryBytes, slots = DEFAULT_SLOTS, verify = 'full', signal } = options
    refuseUnmoved(model.store)
    if (memoryBytes !== undefined && (options.slots ?? options.slotBytes) !== undefined)
      throw new TypeError('memoryBytes: expected neither slots nor slotBytes with it')
    checkCount('slots', slots)
    checkLoaderOptions(options)
    loadPlanFor(model.store, NOTHING, options)
    if (!model.checkable && verify !== 'off') throw noChecksums(`model ${quote(model.name)}`)
    this.model = model
    this.options = { ...options, ...(options.trace && { trace: this.guarded(options.trace) }) }
    this.announcer = new Announcer(model, this.options.trace)
    this.slots = memoryBytes === undefined ? slots : Infinity
    this.slotBytes = memoryBytes === undefined ? (options.slotBytes ?? this.largestLayerBytes()) : memoryBytes
    if (memoryBytes === undefined) checkCount('slotBytes', this.slotBytes)
    else if (typeof memoryBytes !== 'number' || !(memoryBytes >= 1))
      throw new RangeError(`memoryBytes: expected a number of bytes, at least 1, got ${describeValue(memoryBytes)}`)
    this.meter = new LoadMeter(model.store.clock)
    // Each read in flight adds a listener: this is not a leak.
    const events = optionalNodeModule('node:events') as typeof import('node:events') | undefined
    events?.setMaxListeners(0, this.stop.signal)
    this.reader = new Reader(model, this.options, this.meter, this.stop.signal, {
      next: () => {
        // With `memoryBytes`, only a few requests have memory: if all of their bytes are requested, it is the next ones' turn.
        if (memoryBytes !== undefined) this.assign()
        return this.mostUrgentJob()
      },
      settle: (job) => this.settle(job),
    })
    if (signal?.aborted === true) this.stop.abort(signal.reason)
    else signal?.addEventListener('abort', this.onAbort, { once: true })
  }

  get statistics(): LoaderStatistics {
    return this.meter.snapshot
  }

  /** Number of slots held by leases. */
  get held(): number {
    return this.leases.size
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
    const ticket = new Ticket({ extent, index: this.requests++, plan, signal, deadlineMs }, priority, this.desk)
    this.announcer.tell('requested', ticket)
    this.enqueue(ticket)
    if (this.stop.signal.aborted) this.drop(ticket, this.stop.signal.reason)
    else if (signal?.aborted === true) this.drop(ticket, signal.reason)
    this.proceed()
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
    yield* this.changes.watch(() => this.statistics)
  }

  /**
   * Rejects new requests, cancels those without a lease, and waits for reads in flight. Existing leases stay valid;
   * each slot is freed when its lease is released.
   */
  async end(reason: unknown = new DOMException('the loader was closed', 'AbortError')): Promise<void> {
    this.isEnding = true
    await this.shutDown(reason)
  }

  /** Ends the loader and all leases. Idempotent. */
  async close(): Promise<void> {
    await this.end()
    for (const lease of this.leases) lease.release()
  }

  /** Same as `close`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  private readonly onAbort = (): void => void this.shutDown(this.options.signal?.reason)

  /** Stops reading: requests fail with the reason, and slots are freed as they become free. */
  private async shutDown(reason: unknown): Promise<void> {
    if (!this.stop.signal.aborted) {
      this.stop.abort(reason)
      this.options.signal?.removeEventListener('abort', this.onAbort)
      for (const ticket of this.unleased()) this.drop(ticket, reason)
      this.changes.end()
    }
    await this.settled()
    this.memory?.close()
  }

  /** Resolves when no extent is being loaded. @internal */
  async settled(): Promise<void> {
    while (this.loading.size > 0) await this.quiet.promise
  }

  private unleased(): Ticket[] {
    return [...this.waiting, ...this.ready.keys(), ...Array.from(this.loading, ({ ticket }) => ticket)]
  }

  /** Wraps a sink: if it throws, the error only ends the loader. */
  private guarded(trace: TraceSink): TraceSink {
    return (event) => {
      try {
        trace(event)
      } catch (error) {
        void this.shutDown(error)
      }
    }
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

  /** Assigns slots to tickets and submits reads, as far as possible now. */
  private proceed(): void {
    this.assign()
    if (!this.stop.signal.aborted) this.reader.fill()
  }

  private assign(): void {
    if (this.stop.signal.aborted) return
    for (let ticket = this.waiting[0]; ticket !== undefined; ticket = this.waiting[0]) {
      const slot = this.isPrepared(ticket) ? undefined : this.slotFor(ticket)
      // Its memory could not be allocated.
      if (ticket.state === 'failed') continue
      if (slot === undefined) break
      this.waiting.shift()
      this.begin(new Job(ticket, cutBites(ticket.plan.transfers, this.reader.biteBytes), slot))
    }
  }

  private begin(job: Job): void {
    const { ticket, slot, plan } = job
    ticket.moveTo('loading')
    this.loading.add(job)
    this.announcer.tell('loading', ticket, slot)
    const lacks = slot.memory.view === undefined ? missingGpuSupport(plan, this.options) : undefined
    if (lacks !== undefined) this.drop(ticket, lacks)
    // An extent without bytes is complete at once.
    else if (job.isDone) this.arrange(job)
  }

  /** Returns whether memory for this ticket can wait, because enough others have reads to submit before it. */
  private isPrepared({ rank }: Ticket): boolean {
    if (this.options.memoryBytes === undefined) return false
    const before = [...this.loading].filter((job) => job.wantsMore && job.ticket.rank <= rank)
    return before.length >= PREPARED_EXTENTS
  }

  /** Returns a free slot, or that of a less urgent ticket without a claim. */
  private slotFor(ticket: Ticket): Slot | undefined {
    const { extent, plan } = ticket
    try {
      this.allocate()
      for (;;) {
        const slot = this.memory!.take(plan.memoryBytes)
        if (slot !== undefined) return slot
        const spare = leastUrgent([...this.ready.keys()], ticket.rank)
        if (spare === undefined) break
        const loaded = this.ready.get(spare)!
        this.ready.delete(spare)
        this.meter.add('discardedBytes', loaded.statistics.bytes)
        this.putBack(spare)
        this.memory!.give(loaded.slot)
      }
      this.preemptFor(ticket)
      return this.memory!.take(plan.memoryBytes)
    } catch (error) {
      // Without slots, nothing can be loaded; without memory for one extent, others can.
      if (this.memory === undefined) void this.shutDown(error)
      else this.drop(ticket, isExhausted(error) ? extentMemoryError(extent.name, plan.memoryBytes, error) : error)
      return undefined
    }
  }

  /**
   * Allocates the slots, as the first request does otherwise. With `memoryBytes`, nothing. @throws LoaderError
   * (SLOT_MEMORY); other errors of `alloc`. @internal
   */
  allocate(): void {
    const { model, options, slots, slotBytes } = this
    const { where = 'host', poison = false, dma = model.store.dma, memoryBytes } = options
    const source = { dma, where, poison }
    this.memory ??=
      memoryBytes === undefined ? new EqualSlots(source, slots, slotBytes) : new FittingSlots(source, memoryBytes)
  }

  /** Stops a less urgent read. Its slot becomes free at once, or after its reads in flight. */
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
    if (job === undefined) return
    job.preempted = true
    if (job.inFlight.size === 0) this.giveUp(job, () => this.putBack(job.ticket))
  }

  private mostUrgentJob(): Job | undefined {
    let best: Job | undefined
    for (const job of this.loading) {
      if (job.wantsMore && (best === undefined || byUrgency(job.ticket, best.ticket) < 0)) best = job
    }
    return best
  }

  /** Completes a job if it is over. */
  private settle(job: Job): void {
    const { size, failure } = job.inFlight
    if (size === 0 && this.loading.has(job)) {
      if (failure !== undefined) this.giveUp(job, () => this.drop(job.ticket, failure.error))
      else if (job.preempted) this.giveUp(job, () => this.putBack(job.ticket))
      else if (job.isDone) this.arrange(job)
    }
    this.proceed()
  }

  /** Moves the misaligned pieces of a job whose bytes are all verified, then completes it. */
  private arrange(job: Job): void {
    void job.inFlight.start(
      () => this.reader.arrange(job),
      () => (job.isOver ? this.settle(job) : this.finish(job)),
    )
  }

  private finish(job: Job): void {
    const { ticket, slot, plan, bytes, commands, readNs, startNs, endNs, verifyNs } = job
    this.loading.delete(job)
    const verified = this.options.verify !== 'off' && plan.checksAll
    const loaded: Loaded = {
      name: ticket.extent.name,
      alias: ticket.extent.alias,
      part: ticket.extent.part,
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
    this.announcer.tell('ready', ticket, slot)
    if (ticket.isClaimed) this.lend(ticket, loaded)
    this.changed()
    this.proceed()
  }

  private lend(ticket: Ticket, loaded: Loaded): void {
    const { slot } = loaded
    const lease = new Lease(loaded, () => {
      this.leases.delete(lease)
      this.meter.leaseEnds()
      this.announcer.tell('released', ticket, slot)
      this.memory?.give(slot)
      this.proceed()
    })
    this.ready.delete(ticket)
    this.leases.add(lease)
    this.meter.leaseBegins()
    ticket.lend(lease)
    this.announcer.tell('leased', ticket, slot)
  }

  /** Returns a ticket to the queue because a more urgent one takes its slot. */
  private putBack(ticket: Ticket): void {
    ticket.moveTo('waiting')
    this.announcer.tell('passed over', ticket)
    this.enqueue(ticket)
  }

  private giveUp(job: Job, then: () => void): void {
    this.loading.delete(job)
    this.meter.add('discardedBytes', job.bytes)
    this.memory?.give(job.slot)
    then()
    this.changed()
  }

  /** Fails a ticket in any state. If it is being read, its slot stays in use until the reads in flight end. */
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
      job.inFlight.fail(reason)
      if (job.inFlight.size === 0) this.giveUp(job, () => undefined)
    }
    ticket.fail(reason)
    this.announcer.tell('failed', ticket, undefined, reason)
  }

  private changed(): void {
    this.changes.notify()
    if (this.loading.size > 0) return
    this.quiet.resolve(undefined)
    this.quiet = deferred()
  }
}

/** An empty extent, to validate options. */
const NOTHING: StoredExtent = { name: 'nothing', pieces: [], checks: [] }

/** Returns the least urgent unclaimed ticket that is less urgent than `rank`. */
function leastUrgent(tickets: readonly Ticket[], rank: number): Ticket | undefined {
  return tickets
    .filter((ticket) => ticket.rank > rank && !ticket.isClaimed)
    .sort(byUrgency)
    .at(-1)
}
