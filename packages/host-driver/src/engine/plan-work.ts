import type { ZeroBased } from '@gpunvme/nvme-spec'
import { EngineFailedError, statusOutcome } from '@gpunvme/nvme-spec/engine'
import type { AbortSignalLike, CommandOutcome, DmaMemory, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { Work } from '../queues/pump.js'
import type { OverdueCommand, QueuePair } from '../queues/queue-pair.js'

/**
 * Called for each completed command, with any status. Receives the index of its queue, its slot there (not reused
 * before), and by the transport's clock the times at which its entry was written and its completion found.
 */
export type CommandObserver = (queue: number, slot: number, submittedNs: number, completedNs: number) => void

/** Inputs of the execution of a plan, besides the plan. */
export interface PlanExecution {
  readonly pairs: readonly QueuePair[]
  readonly memory: DmaMemory
  readonly timeoutNs: number
  readonly signal: AbortSignalLike | undefined
  readonly clockNow: () => number
  readonly observer: CommandObserver | undefined
  readonly resolve: (summary: OutcomeSummary) => void
  readonly reject: (error: Error) => void
}

/** A plan in execution: the commands that are left, in flight, and ended. Allocates nothing for a command that succeeds. */
export class PlanWork implements Work {
  readonly wakeNs = Infinity
  private readonly plan: Plan
  private readonly execution: PlanExecution
  private readonly startNs: number
  /** For each queue, the first command that may belong to it. */
  private readonly cursor: Uint32Array
  private readonly failures: CommandOutcome[] = []
  /** Commands that were given up; `failures` contains them too. */
  private readonly overdue: { readonly command: number; readonly overdue: OverdueCommand }[] = []
  private inFlight = 0
  private submitted = 0
  private succeeded = 0
  private bytes = 0
  private isHalted = false

  constructor(plan: Plan, execution: PlanExecution) {
    this.plan = plan
    this.execution = execution
    this.startNs = execution.clockNow()
    this.cursor = new Uint32Array(execution.pairs.length)
  }

  get isFinished(): boolean {
    return this.inFlight === 0 && this.isEnded
  }

  get hasOverdue(): boolean {
    return this.overdue.some(({ overdue }) => overdue.completion === undefined)
  }

  stage(): number {
    const { pairs } = this.execution
    let staged = 0
    for (const pair of pairs) {
      while (pair.ids.free > 0) {
        const command = this.nextFor(pair.index)
        if (command < 0) break
        this.stageCommand(pair, command)
        staged++
      }
    }
    return staged
  }

  completed(pair: QueuePair, slot: number, command: number, status: number): void {
    const { observer, clockNow } = this.execution
    observer?.(pair.index, slot, pair.submittedNs[slot]!, clockNow())
    this.inFlight--
    if (status === 0) this.succeed(command)
    else this.fails(command, pair.memory.qid, pair.ids.cidOf(slot), statusOutcome(status))
  }

  givenUp(command: number, overdue: OverdueCommand, csts: number | undefined): void {
    const { timeoutNs } = this.execution
    const outcome = csts === undefined ? { kind: 'timeout', afterNs: timeoutNs } : { kind: 'device-lost', csts }
    this.inFlight--
    this.overdue.push({ command, overdue })
    this.fails(command, overdue.qid, overdue.cid, outcome as CommandOutcome['outcome'])
  }

  halt(): void {
    this.isHalted = true
  }

  settle(endNs: number): void {
    this.takeLateCompletions()
    const { plan, cursor, failures, succeeded, bytes, startNs } = this
    for (let command = 0; command < plan.commands; command++) {
      if (command >= cursor[plan.queue[command]!]!) this.fails(command, -1, -1, { kind: 'not-submitted' })
    }
    if (failures.length > 0) failures.sort((a, b) => a.command - b.command)
    this.execution.resolve({ commands: plan.commands, succeeded, bytes, failures, startNs, endNs })
  }

  fail(cause: unknown): void {
    this.execution.reject(new EngineFailedError('host', cause))
  }

  /** Whether no more commands of this plan are submitted. */
  private get isEnded(): boolean {
    return this.isHalted || this.submitted === this.plan.commands || this.execution.signal?.aborted === true
  }

  /** Returns the next command for this queue and counts it as submitted; -1 if there is none. */
  private nextFor(queue: number): number {
    if (this.isEnded) return -1
    const { plan, cursor } = this
    for (let command = cursor[queue]!; command < plan.commands; command++) {
      if (plan.queue[command] === queue) {
        cursor[queue] = command + 1
        this.submitted++
        return command
      }
    }
    cursor[queue] = plan.commands
    return -1
  }

  private stageCommand(pair: QueuePair, command: number): void {
    const { plan } = this
    const { memory, clockNow, timeoutNs } = this.execution
    const slot = pair.stage(this, command)
    const nowNs = clockNow()
    // A field instead of a parameter of `stage`: V8 may allocate a number that is passed.
    pair.submittedNs[slot] = nowNs
    pair.deadlinesNs[slot] = nowNs + timeoutNs
    const offsetBytes = plan.offsetBytes[command]!
    const blocks = plan.blocks[command]!
    const lengthBytes = blocks * plan.blockBytes
    const entry = (plan.operation === 'read' ? pair.read : pair.write).at(pair.stagedIndex).begin(pair.ids.cidOf(slot))
    entry.NSID = plan.nsid
    pair.pointer.write(entry, pair.stagedIndex, slot, memory, offsetBytes, lengthBytes)
    entry.SLBA = plan.slba[command]!
    entry.NLB = (blocks - 1) as ZeroBased
    if (plan.operation === 'write') memory.forDevice(offsetBytes, lengthBytes)
    this.inFlight++
  }

  private succeed(command: number): void {
    const { plan } = this
    const lengthBytes = plan.blocks[command]! * plan.blockBytes
    if (plan.operation === 'read') this.execution.memory.forHost(plan.offsetBytes[command]!, lengthBytes)
    this.succeeded++
    this.bytes += lengthBytes
  }

  private fails(command: number, qid: number, cid: number, outcome: CommandOutcome['outcome']): void {
    this.failures.push({ command, qid, cid, outcome })
  }

  /** Replaces the outcome of each command that was given up and completed before the plan ended. */
  private takeLateCompletions(): void {
    for (const { command, overdue } of this.overdue) {
      if (overdue.completion === undefined) continue
      const { status } = overdue.completion
      this.failures.splice(
        this.failures.findIndex((failure) => failure.command === command),
        1,
      )
      if (status === 0) this.succeed(command)
      else this.fails(command, overdue.qid, overdue.cid, statusOutcome(status))
    }
  }
}
