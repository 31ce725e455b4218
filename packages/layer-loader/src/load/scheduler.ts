import { optionalNodeModule } from '@gpunvme/nvme-spec/runtime'
import { Announcer } from './announcer.js'
import { splitIntoBatches } from './read-batches.js'
import { Changes } from './changes.js'
import { missingGpuSupport } from './check-extent.js'
import { deferred } from './deferred.js'
import type { LoadableModel } from './extent.js'
import { Job } from './job.js'
import { Lease, type Loaded } from './lease.js'
import type { LoaderOptions } from './options.js'
import { Reader, type ReaderOwner } from './reader.js'
import { extentMemoryError, isExhausted } from './slot-memory-error.js'
import { EqualSlots, FittingSlots, type Slot, type SlotSource } from './slots.js'
import { LoadMeter } from './statistics.js'
import { byUrgency, leastUrgent, type Ticket, type TicketOwner } from './ticket.js'

/** With `memoryBytes`, memory is allocated for this many extents that have bytes to request: the drive stays busy. */
const PREPARED_EXTENTS = 2

/** Turns requests into leases: assigns slots to tickets, the most urgent first, has them read, and lends them. */
export class Scheduler implements TicketOwner, ReaderOwner {
  readonly meter: LoadMeter
  readonly changes = new Changes()
  readonly leases = new Set<Lease>()
  private readonly model: LoadableModel
  private readonly options: LoaderOptions
  private readonly slots: number
  private readonly slotBytes: number
  private readonly announcer: Announcer
  private readonly reader: Reader
  private readonly stop = new AbortController()
  /** Waiting tickets, the most urgent first. */
  private readonly waiting: Ticket[] = []
  private readonly loading = new Set<Job>()
  private readonly ready = new Map<Ticket, Loaded>()
  private memory: SlotSource | undefined
  private quiet = deferred<undefined>()

  constructor(model: LoadableModel, options: LoaderOptions, slots: number, slotBytes: number) {
    this.model = model
    this.options = options
    this.slots = slots
    this.slotBytes = slotBytes
    this.announcer = new Announcer(model, options.trace)
    this.meter = new LoadMeter(model.store.clock)
    // Each read in flight adds a listener: this is not a leak.
    const events = optionalNodeModule('node:events') as typeof import('node:events') | undefined
    events?.setMaxListeners(0, this.stop.signal)
    this.reader = new Reader(model, options, this.meter, this.stop.signal, this)
    const { signal } = options
    if (signal?.aborted === true) this.stop.abort(signal.reason)
    else signal?.addEventListener('abort', this.onAbort, { once: true })
  }

  add(ticket: Ticket): void {
    const { signal } = ticket
    this.announcer.tell('requested', ticket)
    this.enqueue(ticket)
    if (this.stop.signal.aborted) this.drop(ticket, this.stop.signal.reason)
    else if (signal?.aborted === true) this.drop(ticket, signal.reason)
    this.proceed()
  }

  cancel(ticket: Ticket, reason: unknown): void {
    this.drop(ticket, reason)
    this.proceed()
  }

  reconsider(ticket: Ticket): void {
    const loaded = this.ready.get(ticket)
    if (loaded !== undefined && ticket.isClaimed) this.lend(ticket, loaded)
    this.waiting.sort(byUrgency)
    this.proceed()
  }

  next(): Job | undefined {
    // With `memoryBytes`, only a few requests have memory: if all of their bytes are requested, it is the next ones' turn.
    if (this.options.memoryBytes !== undefined) this.assign()
    let best: Job | undefined
    for (const job of this.loading) {
      if (job.wantsMore && (best === undefined || byUrgency(job.ticket, best.ticket) < 0)) best = job
    }
    return best
  }

  /** Completes a job if it is over. */
  settle(job: Job): void {
    const { size, failure } = job.inFlight
    if (size === 0 && this.loading.has(job)) {
      if (failure !== undefined) this.giveUp(job, () => this.drop(job.ticket, failure.error))
      else if (job.preempted) this.giveUp(job, () => this.putBack(job.ticket))
      else if (job.isDone) this.arrange(job)
    }
    this.proceed()
  }

  /** Allocates the slots at the first call. @throws LoaderError (SLOT_MEMORY); other errors of `alloc`. */
  allocate(): void {
    if (this.memory !== undefined) return
    const { model, options, slots, slotBytes } = this
    const { where = 'host', poison = false, dma = model.store.dma, memoryBytes } = options
    const source = { dma, where, poison }
    this.memory =
      memoryBytes === undefined ? new EqualSlots(source, slots, slotBytes) : new FittingSlots(source, memoryBytes)
  }

  private readonly onAbort = (): void => void this.shutDown(this.options.signal?.reason)

  /** Stops reading: requests fail with the reason, and slots are freed as they become free. */
  async shutDown(reason: unknown): Promise<void> {
    if (!this.stop.signal.aborted) {
      this.stop.abort(reason)
      this.options.signal?.removeEventListener('abort', this.onAbort)
      const loading = Array.from(this.loading, ({ ticket }) => ticket)
      for (const ticket of [...this.waiting, ...this.ready.keys(), ...loading]) this.drop(ticket, reason)
      this.changes.end()
    }
    await this.settled()
    this.memory?.close()
  }

  /** Resolves when no extent is being loaded. */
  async settled(): Promise<void> {
    while (this.loading.size > 0) await this.quiet.promise
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
      this.begin(new Job(ticket, splitIntoBatches(ticket.plan.transfers, this.reader.batchBytes), slot))
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
    this.meter.loaded({ tensors, tensorsVerified: verified ? tensors : 0, requestedBytes: plan.requestedBytes })
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
    this.announcer.tell('preempted', ticket)
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
