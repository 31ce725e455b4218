import { AcceptedPlan } from '@gpunvme/nvme-spec/engine'
import type { CommandOutcome, DmaMemory, Outcome, OutcomeSummary, Plan } from '@gpunvme/nvme-spec/transport'
import type { Resends } from './settle.js'

/**
 * A plan in several attempts: which commands are settled, which are in the next attempt, and how often each was resent.
 */
export class PlanProgress {
  readonly plan: Plan
  /** Bytes that commands of this plan moved so far. */
  bytes = 0
  /** By command of the whole plan; only commands that did not succeed at once have an entry. */
  private readonly resends = new Map<number, Resends>()
  /** Commands of the whole plan that are in the next attempt. */
  private remaining: number[] | undefined
  private readonly failures: CommandOutcome[] = []
  /** Last outcomes of commands that are resent. */
  private readonly before = new Map<number, CommandOutcome>()
  private succeeded = 0

  constructor(plan: Plan) {
    this.plan = plan
  }

  /** The plan of the next attempt. */
  get attempt(): Plan {
    return this.remaining === undefined ? this.plan : select(this.plan, this.remaining)
  }

  /**
   * Takes the summary of an attempt. Commands that `settle` sends again form the next one.
   * @param memory into which the plan reads; a read that succeeded late is made visible in it.
   */
  next(
    summary: OutcomeSummary,
    settle: (failure: CommandOutcome, resends: Resends) => 'again' | Outcome,
    memory: DmaMemory,
  ): void {
    const { plan } = this
    const again: number[] = []
    this.succeeded += summary.succeeded
    this.bytes += summary.bytes
    for (const failure of summary.failures) {
      const command = this.commandAt(failure.command)
      const resends = this.resendsOf(command)
      const outcome = settle(failure, resends)
      if (outcome === 'again') {
        again.push(command)
        if (failure.outcome.kind !== 'not-submitted') this.before.set(command, failure)
      } else if (outcome.kind !== 'success') {
        // A command that was sent once did reach the controller, even if it is not sent again.
        const before = outcome.kind === 'not-submitted' ? this.before.get(command) : undefined
        const replays = resends.replays > 0 ? { replays: resends.replays } : {}
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

  get finished(): boolean {
    return this.remaining?.length === 0
  }

  /** Returns the maximum number of replays of these failed commands. */
  maxReplaysOf(failures: readonly CommandOutcome[]): number {
    return failures.reduce((max, { command }) => {
      return Math.max(max, this.resendsOf(this.commandAt(command)).replays)
    }, 0)
  }

  summary(startNs: number, endNs: number): OutcomeSummary {
    const { plan, succeeded, bytes, failures } = this
    failures.sort((a, b) => a.command - b.command)
    return { commands: plan.commands, succeeded, bytes, failures, startNs, endNs }
  }

  /** Returns the command of the whole plan that has this index in the attempt. */
  private commandAt(index: number): number {
    return this.remaining === undefined ? index : this.remaining[index]!
  }

  private resendsOf(command: number): Resends {
    let resends = this.resends.get(command)
    if (resends === undefined) {
      resends = { retries: 0, replays: 0, delayedNs: 0 }
      this.resends.set(command, resends)
    }
    return resends
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
