import { statusOutcome } from '@gpunvme/nvme-spec/engine'
import type { AbortSignalLike, CommandOutcome, DmaMemory, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'

/** A plan in execution: commands that are left, in flight, and ended. */
export class Job {
  readonly plan: Plan
  readonly memory: DmaMemory
  readonly timeoutNs: number
  inFlight = 0
  private readonly signal: AbortSignalLike | undefined
  private readonly startNs: number
  /** For each queue, the first command that may belong to it. */
  private readonly cursor: Uint32Array
  private readonly failures: CommandOutcome[] = []
  private submitted = 0
  private succeeded = 0
  private bytes = 0
  private stopped = false
  private told = false

  constructor(
    plan: Plan,
    memory: DmaMemory,
    queues: number,
    startNs: number,
    timeoutNs: number,
    signal?: AbortSignalLike,
  ) {
    this.plan = plan
    this.memory = memory
    this.timeoutNs = timeoutNs
    this.signal = signal
    this.startNs = startNs
    this.cursor = new Uint32Array(queues)
  }

  /** Returns the next command for this queue and counts it as submitted; -1 if there is none. */
  nextFor(queue: number): number {
    if (this.ended) return -1
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

  /** Whether no more commands of this plan are submitted. */
  get ended(): boolean {
    return this.stopped || this.submitted === this.plan.commands || this.signal?.aborted === true
  }

  get finished(): boolean {
    return this.inFlight === 0 && this.ended
  }

  stop(): void {
    this.stopped = true
  }

  succeed(command: number): void {
    const { plan } = this
    const lengthBytes = plan.blocks[command]! * plan.blockBytes
    if (plan.operation === 'read') this.memory.forHost(plan.offsetBytes[command]!, lengthBytes)
    this.inFlight--
    this.succeeded++
    this.bytes += lengthBytes
  }

  failWithStatus(command: number, qid: number, cid: number, status: number): void {
    this.fail(command, qid, cid, statusOutcome(status))
  }

  fail(command: number, qid: number, cid: number, outcome: CommandOutcome['outcome']): void {
    this.inFlight--
    this.failures.push({ command, qid, cid, outcome })
  }

  /** Records a completion, before the plan has ended, of a command that was given up. */
  completedLate(command: number, qid: number, cid: number, status: number): void {
    const index = this.failures.findIndex((failure) => failure.command === command)
    // The plan may have ended, with its outcomes reported.
    if (index < 0 || this.told) return
    this.failures.splice(index, 1)
    this.inFlight++
    if (status === 0) this.succeed(command)
    else this.failWithStatus(command, qid, cid, status)
  }

  summary(endNs: number): OutcomeSummary {
    this.told = true
    const { plan, cursor, failures, succeeded, bytes, startNs } = this
    for (let command = 0; command < plan.commands; command++) {
      if (command >= cursor[plan.queue[command]!]!) {
        failures.push({ command, qid: -1, cid: -1, outcome: { kind: 'not-submitted' } })
      }
    }
    failures.sort((a, b) => a.command - b.command)
    return { commands: plan.commands, succeeded, bytes, failures, startNs, endNs }
  }
}
