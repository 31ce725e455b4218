import { AcceptedPlan } from '@gpunvme/nvme-spec/engine'
import type { CommandOutcome, DmaMemory, Outcome, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'

/**
 * A plan in several attempts: which commands are settled, which are in the next attempt, and how often each was resent.
 */
export class PlanProgress {
  readonly plan: Plan
  /** Bytes that commands of this plan moved so far. */
  bytes = 0
  private readonly retries: Uint8Array
  private readonly replays: Uint8Array
  private readonly delaysNs: Float64Array
  /** Commands of the whole plan that are in the next attempt. */
  private remaining: number[] | undefined
  private readonly failures: CommandOutcome[] = []
  /** Last outcomes of commands that are resent. */
  private readonly before = new Map<number, CommandOutcome>()
  private succeeded = 0

  constructor(plan: Plan) {
    this.plan = plan
    this.retries = new Uint8Array(plan.commands)
    this.replays = new Uint8Array(plan.commands)
    this.delaysNs = new Float64Array(plan.commands)
  }

  /** The plan of the next attempt. */
  get attempt(): Plan {
    return this.remaining === undefined ? this.plan : select(this.plan, this.remaining)
  }

  /**
   * Takes the summary of an attempt. Commands that `judge` sends again form the next one.
   * @param memory into which the plan reads; a read that succeeded late is made visible in it.
   */
  next(
    summary: OutcomeSummary,
    judge: (failure: CommandOutcome, command: number) => 'again' | Outcome,
    memory: DmaMemory,
  ): void {
    const { plan } = this
    const again: number[] = []
    this.succeeded += summary.succeeded
    this.bytes += summary.bytes
    for (const failure of summary.failures) {
      const command = this.commandAt(failure.command)
      const outcome = judge(failure, command)
      if (outcome === 'again') {
        again.push(command)
        if (failure.outcome.kind !== 'not-submitted') this.before.set(command, failure)
      } else if (outcome.kind !== 'success') {
        // A command that was sent once did reach the controller, even if it is not sent again.
        const before = outcome.kind === 'not-submitted' ? this.before.get(command) : undefined
        const replays = this.replays[command]! > 0 ? { replays: this.replays[command]! } : {}
        this.failures.push({ ...failure, outcome, ...before, ...replays, command })
      } else {
        const lengthBytes = plan.blocks[command]! * plan.blockBytes
        if (plan.operation === 'read') memory.forHost(plan.offsetBytes[command]!, lengthBytes)
        this.succeeded++
        this.bytes += lengthBytes
      }
    }
    this.remaining = again
  }

  /** Returns the command of the whole plan that has this index in the attempt. */
  commandAt(index: number): number {
    return this.remaining === undefined ? index : this.remaining[index]!
  }

  get finished(): boolean {
    return this.remaining?.length === 0
  }

  /** Returns how often the command was resent after a status. */
  retriesOf(command: number): number {
    return this.retries[command]!
  }

  /** Returns the sum of the delays before its retries. */
  delaysOf(command: number): number {
    return this.delaysNs[command]!
  }

  countRetry(command: number, delayNs: number): void {
    this.retries[command]!++
    this.delaysNs[command]! += delayNs
  }

  /** Returns how often the command was resent after a recovery. */
  replaysOf(command: number): number {
    return this.replays[command]!
  }

  countReplay(command: number): void {
    this.replays[command]!++
  }

  summary(startNs: number, endNs: number): OutcomeSummary {
    const { plan, succeeded, bytes, failures } = this
    failures.sort((a, b) => a.command - b.command)
    return { commands: plan.commands, succeeded, bytes, failures, startNs, endNs }
  }
}

function select(plan: Plan, commands: readonly number[]): Plan {
  return new AcceptedPlan({
    ...plan,
    commands: commands.length,
    slba: Float64Array.from(commands, (command) => plan.slba[command]!),
    blocks: Uint32Array.from(commands, (command) => plan.blocks[command]!),
    offsetBytes: Float64Array.from(commands, (command) => plan.offsetBytes[command]!),
    queue: Uint16Array.from(commands, (command) => plan.queue[command]!),
  })
}
