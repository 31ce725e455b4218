import { InFlight } from '../flow/in-flight.js'
import type { StoreSummary } from '../store/store.js'
import type { ReadBatch } from './read-batches.js'
import type { LoadPlan, PlacedUnit } from './load-plan.js'
import type { Slot } from './slots.js'
import type { Ticket } from './ticket.js'

/** An extent that is being loaded into a slot: its requested, completed and verified parts. */
export class Job {
  readonly ticket: Ticket
  readonly plan: LoadPlan
  readonly slot: Slot
  /** Bites, checks and moves in flight: the slot stays in use while there are any, and the first failure ends the job. */
  readonly inFlight = new InFlight()
  /** A more urgent request took the slot; the extent is requested again later. */
  preempted = false
  bytes = 0
  commands = 0
  readNs = 0
  startNs = Infinity
  endNs = -Infinity
  verifyNs = 0
  private readonly batches: readonly ReadBatch[]
  private readonly arrived: boolean[] = []
  private readonly verified = new Set<PlacedUnit>()
  private nextBatch = 0
  private nextUnit = 0
  /** The first unit that begins after the batches taken so far. */
  private unitAfterBites = 0
  private allUpTo = 0

  constructor(ticket: Ticket, batches: readonly ReadBatch[], slot: Slot) {
    this.ticket = ticket
    this.plan = ticket.plan
    this.batches = batches
    this.slot = slot
  }

  /** Whether nothing more is to be read, after success or failure. */
  get isOver(): boolean {
    return this.inFlight.failure !== undefined || this.preempted
  }

  get wantsMore(): boolean {
    return !this.isOver && this.nextBatch < this.batches.length
  }

  get isDone(): boolean {
    return (
      this.inFlight.size === 0 && this.nextBatch === this.batches.length && this.nextUnit === this.plan.units.length
    )
  }

  /** Returns the next batch to read, its number, and the check units inside it, in order. */
  take(): readonly [batch: ReadBatch, number: number, units: readonly PlacedUnit[]] {
    const number = this.nextBatch++
    const { units } = this.plan
    const batch = this.batches[number]!
    const startBytes = batch.endBytes - batch.bytes
    let first = this.unitAfterBites
    while (first < units.length && units[first]!.memoryBytes < startBytes) first++
    let end = first
    while (end < units.length && endOf(units[end]!) <= batch.endBytes) end++
    this.unitAfterBites = end
    return [batch, number, units.slice(first, end)]
  }

  /** Records a check unit that was verified with its batch. */
  verify(unit: PlacedUnit): void {
    this.verified.add(unit)
  }

  /** Records a completed batch, and returns the check units that are now complete and have yet to be verified, in order. */
  arrive(number: number, { bytes, commands, startNs, endNs }: StoreSummary): readonly PlacedUnit[] {
    this.bytes += bytes
    this.commands += commands
    this.startNs = Math.min(this.startNs, startNs)
    this.endNs = Math.max(this.endNs, endNs)
    this.arrived[number] = true
    while (this.arrived[this.allUpTo] === true) this.allUpTo++
    const endBytes = this.batches[this.allUpTo - 1]?.endBytes ?? 0
    const { units } = this.plan
    const first = this.nextUnit
    while (this.nextUnit < units.length && endOf(units[this.nextUnit]!) <= endBytes) this.nextUnit++
    return units.slice(first, this.nextUnit).filter((unit) => !this.verified.delete(unit))
  }
}

function endOf({ memoryBytes, lengthBytes }: PlacedUnit): number {
  return memoryBytes + lengthBytes
}
