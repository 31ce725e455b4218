import { CSTS } from '@gpunvme/nvme-spec'
import { isLost } from '@gpunvme/nvme-spec/engine'
import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import type { EngineStatistics, Transport } from '@gpunvme/nvme-spec/transport'
import { NS_PER_MS } from '../wait.js'
import type { CompletionRing } from './completion-ring.js'
import type { CommandOwner, QueuePair } from './queue-pair.js'

/** Interval of CSTS reads while nothing completes: a removed device is detected before the deadline of a command. */
const HEALTH_CHECK_NS = 10 * NS_PER_MS

/** Turns of the pump after which the event loop gets a turn, since a fast device never leaves the pump idle. */
const TURNS_BEFORE_YIELD = 128

/** Commands that a pump submits and completes: those of a plan, or a single one. */
export interface Work extends CommandOwner {
  /** Whether nothing is in flight and nothing more will be staged. */
  readonly isFinished: boolean
  /** Whether a late completion may still determine an outcome, as long as the pump polls. */
  readonly hasOverdue: boolean
  /** Time at which the pump must call `stage` again even if nothing completes; Infinity if there is none. */
  readonly wakeNs: number
  /** Stages as many commands as the queues hold; returns their number. */
  stage(): number
  /** Called once, when the work is finished. */
  settle(nowNs: number): void
  /** A command of these queues was given up. @param csts CSTS of a controller that is lost; undefined otherwise. */
  halt(csts: number | undefined): void
  /** The transport failed; the outcome of commands in flight is unknown. */
  fail(cause: unknown): void
}

/**
 * Runs the commands of queue pairs: submits, polls, waits, and gives up commands at their deadlines. The only code
 * that reads CSTS while commands are in flight.
 */
export class Pump {
  private readonly transport: Pick<Transport, 'bar' | 'clock'>
  private readonly pairs: readonly QueuePair[]
  private readonly rings: readonly CompletionRing[]
  private readonly watch: (() => void) | undefined
  private works: Work[] = []
  /** Kept until other work ends: V8 drops the compiled code of a class without instances at a garbage collection. */
  private settled: readonly Work[] = []
  private isRunning = false
  /** Set after a command was given up: plans do not use the queues until a recovery. */
  private isHalted = false
  private healthCheckNs = 0
  private turn = 0
  private commands = 0

  /** @param watch called at each health check. */
  constructor(
    transport: Pick<Transport, 'bar' | 'clock'>,
    pairs: readonly QueuePair[],
    rings: readonly CompletionRing[],
    watch?: () => void,
  ) {
    this.transport = transport
    this.pairs = pairs
    this.rings = rings
    this.watch = watch
  }

  get isIdle(): boolean {
    return this.works.length === 0
  }

  get statistics(): EngineStatistics {
    const { pairs, rings } = this
    const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0)
    return {
      commands: this.commands,
      doorbellWrites: sum([...pairs, ...rings].map(({ doorbell }) => doorbell.writes)),
      staleCompletions: sum([
        ...pairs.map(({ staleCompletions }) => staleCompletions),
        ...rings.map(({ foreignCompletions }) => foreignCompletions),
      ]),
    }
  }

  /** Runs work until it is finished, together with other work. */
  start(work: Work): void {
    if (this.isHalted) work.halt(undefined)
    this.works.push(work)
    if (!this.isRunning) this.run().catch((error: unknown) => this.breakDown(error))
  }

  /** Submits commands at once, without waiting for the pump, as far as the queues have room; returns their number. */
  submit(): number {
    let staged = 0
    for (const work of this.works) staged += work.stage()
    for (const pair of this.pairs) pair.ring()
    this.commands += staged
    return staged
  }

  /** Ends the staging of plans. */
  halt(csts?: number): void {
    this.isHalted = true
    for (const work of this.works) work.halt(csts)
  }

  /** Handles posted completions; returns their number. */
  poll(): number {
    let consumed = 0
    for (const ring of this.rings) consumed += ring.poll()
    return consumed
  }

  private async run(): Promise<void> {
    const { clock } = this.transport
    this.isRunning = true
    this.healthCheckNs = clock.now() + HEALTH_CHECK_NS
    while (this.works.length > 0) {
      const moved = this.submit() + this.poll()
      const isTurnOfOthers = ++this.turn % TURNS_BEFORE_YIELD === 0
      // Under a constant flow of completions the pump never idles; lost commands must reach their deadline nevertheless.
      if (isTurnOfOthers) this.checkHealth()
      const hasSettled = this.settleFinished()
      if (this.works.length === 0 && !isTurnOfOthers) break
      // Lets awaiting callers start the next plan before time advances, and gives signals a turn.
      if (hasSettled || isTurnOfOthers) await nextTurn()
      else if (moved === 0) await this.idle()
    }
    this.isRunning = false
  }

  private async idle(): Promise<void> {
    const { clock } = this.transport
    let untilNs = this.healthCheckNs
    for (const pair of this.pairs) untilNs = Math.min(untilNs, pair.earliestDeadlineNs())
    for (const { wakeNs } of this.works) untilNs = Math.min(untilNs, wakeNs)
    await clock.idle(untilNs)
    if (this.poll() > 0 || clock.now() < untilNs) return
    this.healthCheckNs = clock.now() + HEALTH_CHECK_NS
    this.checkHealth()
  }

  /** Checks whether the device is present, and gives up overdue commands. */
  private checkHealth(): void {
    const { bar, clock } = this.transport
    this.watch?.()
    const found = bar.read32(CSTS.offset)
    const csts = isLost(found) ? found : undefined
    let given = 0
    for (const pair of this.pairs) given += pair.giveUp(clock.now(), csts)
    if (csts === undefined && given === 0) return
    this.halt(csts)
    // Before the next poll: it would write a doorbell, and the device may be lost.
    if (csts !== undefined) this.settleFinished()
  }

  private settleFinished(): boolean {
    // Apart from `settleSome`, since V8 allocates the variables that a closure shares even if the function returns before it.
    return this.works.some(isFinished) && this.settleSome()
  }

  private settleSome(): boolean {
    const settled = this.works.filter((work) => work.isFinished && !(work.hasOverdue && this.isBusy))
    if (settled.length === 0) return false
    this.settled = settled
    const now = this.transport.clock.now()
    for (const work of this.settled) work.settle(now)
    // Removed last: if one work cannot be settled, `breakDown` must still fail it and all later ones.
    this.works = this.works.filter((work) => !settled.includes(work))
    return true
  }

  /** Whether commands with a deadline are in flight. */
  private get isBusy(): boolean {
    return this.pairs.some((pair) => pair.earliestDeadlineNs() !== Infinity)
  }

  private breakDown(cause: unknown): void {
    this.isHalted = true
    this.isRunning = false
    for (const work of this.works.splice(0)) work.fail(cause)
  }
}

/** Defined once: a function expression in the pump would be allocated at every turn. */
function isFinished(work: Work): boolean {
  return work.isFinished
}
