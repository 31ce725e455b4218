import type { CompletedEntry } from './entry-text.js'
import { LatencyTally } from './latency-tally.js'
import type { ReplayableCommand } from './replayable.js'

/** How a command ended on this drive. */
export interface Answer {
  readonly sct: number
  readonly sc: number
  /** 'Successful Completion (SCT 0h SC 00h)' */
  readonly status: string
  readonly latencyNs: number
}

/** A command that ended in another way than it did when the trace was taken. */
export interface Difference {
  /** The line of its completion. */
  readonly line: number
  readonly command: ReplayableCommand
  readonly trace: string
  readonly here: string
}

/** All commands of one name. */
export class NameTally {
  same = 0
  different = 0
  /** Answered here, and not in the trace. */
  unanswered = 0
  readonly trace = new LatencyTally()
  readonly here = new LatencyTally()
}

/** The first ones are enough to look into. */
const MOST_DIFFERENCES = 10
/** Names come from a file. */
const MOST_REASONS = 40

/** What came of a replay. */
export class ReplayTally {
  readonly names = new Map<string, NameTally>()
  readonly differences: Difference[] = []
  /** Why commands were not replayed, and how many for each reason. */
  readonly skipped = new Map<string, number>()

  add(line: number, command: ReplayableCommand, answer: Answer, completed: CompletedEntry, traceNs: number): void {
    const tally = this.of(command)
    tally.trace.add(traceNs)
    tally.here.add(answer.latencyNs)
    if (answer.sct === completed.sct && answer.sc === completed.sc) {
      tally.same++
      return
    }
    tally.different++
    if (this.differences.length < MOST_DIFFERENCES) {
      this.differences.push({ line, command, trace: completed.status, here: answer.status })
    }
  }

  /** A command for which the trace has no completion. */
  addUnanswered(command: ReplayableCommand, { latencyNs }: Answer): void {
    const tally = this.of(command)
    tally.unanswered++
    tally.here.add(latencyNs)
  }

  skip(reason: string): void {
    const known = this.skipped.has(reason) || this.skipped.size < MOST_REASONS ? reason : 'others'
    this.skipped.set(known, (this.skipped.get(known) ?? 0) + 1)
  }

  /** How many commands ended in another way. */
  get different(): number {
    return [...this.names.values()].reduce((sum, { different }) => sum + different, 0)
  }

  /** How many were sent. */
  get sent(): number {
    return [...this.names.values()].reduce((sum, tally) => sum + tally.same + tally.different + tally.unanswered, 0)
  }

  private of({ name }: ReplayableCommand): NameTally {
    let tally = this.names.get(name)
    if (tally === undefined) this.names.set(name, (tally = new NameTally()))
    return tally
  }
}
