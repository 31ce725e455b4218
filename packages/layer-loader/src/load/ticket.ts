import { deferred, type Deferred } from './deferred.js'
import type { StoredExtent } from './extent.js'
import type { Lease, LoadReport } from './lease.js'
import type { LoadPlan } from './load-plan.js'

/**
 * How urgent it is. 'now': somebody waits for it; it passes everything else. 'soon': in the order of asking. 'ahead': a
 * guess, which gives way to both. Where no slot is free, the least urgent whose lease nobody has asked for gives its own,
 * and is read again in its turn.
 */
export type Priority = 'now' | 'soon' | 'ahead'

const RANK = { now: 0, soon: 1, ahead: 2 } as const

export type TicketState = 'waiting' | 'loading' | 'ready' | 'leased' | 'failed'

/** What a ticket asks of its loader. */
export interface TicketDesk {
  cancel(ticket: Ticket, reason: unknown): void
  /** Its priority has changed, or its lease was asked for. */
  reconsider(ticket: Ticket): void
}

/** A request for an extent. It costs nothing to hold one; `cancel` what is not wanted any more. */
export class Ticket {
  readonly extent: StoredExtent
  /** How many were asked for before it. */
  readonly index: number
  /** @internal */
  readonly plan: LoadPlan
  /** @internal */
  readonly signal: AbortSignal | undefined
  private readonly desk: TicketDesk
  private current: Priority
  private currentState: TicketState = 'waiting'
  private arrival = deferred<LoadReport>()
  private loan: Deferred<Lease> | undefined

  /** @internal */
  constructor(
    { extent, index, plan, signal }: Pick<Ticket, 'extent' | 'index' | 'plan' | 'signal'>,
    priority: Priority,
    desk: TicketDesk,
  ) {
    this.extent = extent
    this.index = index
    this.plan = plan
    this.signal = signal
    this.current = priority
    this.desk = desk
    signal?.addEventListener('abort', this.onAbort, { once: true })
  }

  get state(): TicketState {
    return this.currentState
  }

  get priority(): Priority {
    return this.current
  }

  /** Lower is more urgent. @internal */
  get rank(): number {
    return RANK[this.current]
  }

  /** Whether somebody has asked for the lease. @internal */
  get isClaimed(): boolean {
    return this.loan !== undefined
  }

  /**
   * What was loaded, once all of it is in memory, proven where that was wanted. Until its lease is asked for, something more
   * urgent may take its slot; then it is read again.
   * @throws as `lease`.
   */
  ready(): Promise<LoadReport> {
    return this.arrival.promise
  }

  /**
   * The extent in memory; the same lease each time.
   * @throws VerificationError, what reading the store throws, the reason of whoever cancelled it.
   */
  lease(): Promise<Lease> {
    if (this.loan === undefined) {
      this.loan = deferred()
      // One that has failed has told `arrival` so.
      this.arrival.promise.catch((reason: unknown) => this.loan?.reject(reason))
      this.desk.reconsider(this)
    }
    return this.loan.promise
  }

  /** Makes it more or less urgent. What has been read of it stays, unless its slot has been given away already. */
  setPriority(priority: Priority): void {
    if (priority === this.current) return
    this.current = priority
    this.desk.reconsider(this)
  }

  /** Gives it up: `lease` then rejects with the reason. Of one that has been leased nothing changes. */
  cancel(reason: unknown = new DOMException(`${this.extent.name} is not wanted any more`, 'AbortError')): void {
    this.desk.cancel(this, reason)
  }

  /** It is read, or waits to be read again. @internal */
  moveTo(state: 'waiting' | 'loading'): void {
    if (this.currentState === 'ready') this.arrival = deferred()
    this.currentState = state
  }

  /** @internal */
  arrive(report: LoadReport): void {
    this.currentState = 'ready'
    this.arrival.resolve(report)
  }

  /** @internal */
  lend(lease: Lease): void {
    this.currentState = 'leased'
    this.signal?.removeEventListener('abort', this.onAbort)
    this.loan?.resolve(lease)
  }

  /** @internal */
  fail(reason: unknown): void {
    // What was ready is not any more: whoever asks from now on hears so.
    if (this.currentState === 'ready') this.arrival = deferred()
    this.currentState = 'failed'
    this.signal?.removeEventListener('abort', this.onAbort)
    this.arrival.reject(reason)
    this.loan?.reject(reason)
  }

  private readonly onAbort = (): void => this.cancel(this.signal?.reason)
}

/** Orders tickets by urgency, then as they were asked for. */
export function byUrgency(a: Ticket, b: Ticket): number {
  return a.rank - b.rank || a.index - b.index
}
