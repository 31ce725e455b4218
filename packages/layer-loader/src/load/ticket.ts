import { requireOneOf } from '../formats/invalid-argument.js'
import { deadlinePassed } from './deadline.js'
import { deferred, type Deferred } from './deferred.js'
import type { StoredExtent } from './extent.js'
import type { Lease, LoadReport } from './lease.js'
import type { LoadPlan } from './load-plan.js'

/**
 * Urgency of a request. 'now' precedes all others. 'soon' is in the order of requests. 'ahead' is speculative and
 * yields to both. Without a free slot, the least urgent ticket whose lease has not been requested gives up its slot,
 * and is read again later.
 */
export type Priority = 'now' | 'soon' | 'ahead'

const RANK = { now: 0, soon: 1, ahead: 2 } as const

/** @throws LoaderError (INVALID_ARGUMENT): without a rank, the order of all requests would be undefined. */
export function checkPriority(priority: Priority): void {
  requireOneOf('priority', priority, Object.keys(RANK))
}

/** States of a request. */
export type TicketState = 'waiting' | 'loading' | 'ready' | 'leased' | 'failed'

/** Callbacks of a ticket to its scheduler. */
export interface TicketOwner {
  cancel(ticket: Ticket, reason: unknown): void
  /** Called after a change of priority or a request for the lease. */
  reconsider(ticket: Ticket): void
}

/** A request for an extent. `cancel` it if it is no longer needed. */
export class Ticket {
  readonly extent: StoredExtent
  /** Number of earlier requests. */
  readonly index: number
  /** @internal */
  readonly plan: LoadPlan
  /** @internal */
  readonly signal: AbortSignal | undefined
  /** @internal */
  readonly deadlineMs: number | undefined
  private readonly owner: TicketOwner
  private current: Priority
  private currentState: TicketState = 'waiting'
  private arrival = deferred<LoadReport>()
  private loan: Deferred<Lease> | undefined
  private timer: ReturnType<typeof setTimeout> | undefined

  /** @internal */
  constructor(
    request: Pick<Ticket, 'extent' | 'index' | 'plan' | 'signal' | 'deadlineMs'>,
    priority: Priority,
    owner: TicketOwner,
  ) {
    const { extent, index, plan, signal, deadlineMs } = request
    this.extent = extent
    this.index = index
    this.plan = plan
    this.signal = signal
    this.deadlineMs = deadlineMs
    this.current = priority
    this.owner = owner
    signal?.addEventListener('abort', this.onAbort, { once: true })
    if (deadlineMs !== undefined) this.timer = setTimeout(this.onDeadline, deadlineMs)
  }

  get state(): TicketState {
    return this.currentState
  }

  get priority(): Priority {
    return this.current
  }

  /** A lower rank is more urgent. @internal */
  get rank(): number {
    return RANK[this.current]
  }

  /** Whether the lease was requested. @internal */
  get isClaimed(): boolean {
    return this.loan !== undefined
  }

  /**
   * Resolves when the extent is completely in memory and, if requested, verified. Until its lease is requested, a more
   * urgent request may take its slot; then it is read again.
   * @throws same as `lease`.
   */
  ready(): Promise<LoadReport> {
    return this.arrival.promise
  }

  /**
   * Resolves with the extent in memory; the same lease for each call.
   * @throws VerificationError, LoaderError (DEADLINE, SLOT_MEMORY), errors of reading the store, the reason of a
   * cancellation.
   */
  lease(): Promise<Lease> {
    if (this.loan === undefined) {
      this.loan = deferred()
      // A failure is already reported by `arrival`.
      this.arrival.promise.catch((reason: unknown) => this.loan?.reject(reason))
      this.owner.reconsider(this)
    }
    return this.loan.promise
  }

  /**
   * Changes the urgency. Bytes read so far are kept unless the slot has been taken.
   * @throws LoaderError (INVALID_ARGUMENT)
   */
  setPriority(priority: Priority): void {
    checkPriority(priority)
    if (priority === this.current) return
    this.current = priority
    this.owner.reconsider(this)
  }

  /** Cancels the request: `lease` rejects with the reason. Has no effect on an existing lease. */
  cancel(reason: unknown = new DOMException(`${this.extent.name} was cancelled`, 'AbortError')): void {
    this.owner.cancel(this, reason)
  }

  /** Marks it as being read, or waiting to be read again. @internal */
  moveTo(state: 'waiting' | 'loading'): void {
    if (this.currentState === 'ready') this.arrival = deferred()
    this.currentState = state
  }

  /** Marks it as read and verified. @internal */
  arrive(report: LoadReport): void {
    this.currentState = 'ready'
    this.arrival.resolve(report)
  }

  /** Marks it as leased. @internal */
  lend(lease: Lease): void {
    this.currentState = 'leased'
    this.settled()
    this.loan?.resolve(lease)
  }

  /** Marks it as failed. @internal */
  fail(reason: unknown): void {
    // It is no longer ready: later calls get the failure.
    if (this.currentState === 'ready') this.arrival = deferred()
    this.currentState = 'failed'
    this.settled()
    this.arrival.reject(reason)
    this.loan?.reject(reason)
  }

  private settled(): void {
    clearTimeout(this.timer)
    this.signal?.removeEventListener('abort', this.onAbort)
  }

  private readonly onAbort = (): void => this.cancel(this.signal?.reason)

  private readonly onDeadline = (): void =>
    this.cancel(deadlinePassed(this.extent, this.deadlineMs!, this.currentState))
}

/** Orders tickets by urgency, then by time of request. */
export function byUrgency(a: Ticket, b: Ticket): number {
  return a.rank - b.rank || a.index - b.index
}

/** Returns the least urgent unclaimed ticket that is less urgent than `rank`. */
export function leastUrgent(tickets: readonly Ticket[], rank: number): Ticket | undefined {
  return tickets
    .filter((ticket) => ticket.rank > rank && !ticket.isClaimed)
    .sort(byUrgency)
    .at(-1)
}
