import type { TraceCompletion } from '@gpunvme/nvme-spec/transport'
import { LatencyTally } from './latency-tally.js'
import type { ReplayableCommand } from './replayable.js'

/** Outcome of a command on this drive. */
export interface Answer {
  readonly sct: number
  readonly sc: number
  /** 'Successful Completion (SCT 0h SC 00h)' */
  readonly status: string
  readonly latencyNs: number
}

/** A command whose outcome differs from the trace. */
export interface Difference {
  /** Line of its completion. */
  readonly line: number
  readonly command: ReplayableCommand
  readonly trace: string
  readonly here: string
}

/** Totals of commands with one name. */
export class NameTally {
  same = 0
  different = 0
  /** Completed here but not in the trace. */
  unanswered = 0
  readonly trace = new LatencyTally()
  readonly here = new LatencyTally()
}

/** Number of differences that are kept. */
const MAX_DIFFERENCES = 10
/** Limit for names, which come from a file. */
const MAX_REASONS = 40

/** Results of a replay. */
export class ReplayTally {
  readonly names = new Map<string, NameTally>()
  readonly differences: Difference[] = []
  /** Number of skipped commands by reason. */
  readonly skipped = new Map<string, number>()

  add(line: number, command: ReplayableCommand, answer: Answer, completion: TraceCompletion, traceNs: number): void {
    const tally = this.of(command)
    tally.trace.add(traceNs)
    tally.here.add(answer.latencyNs)
    if (answer.sct === completion.sct && answer.sc === completion.sc) {
      tally.same++
      return
    }
    tally.different++
    if (this.differences.length < MAX_DIFFERENCES) {
      this.differences.push({ line, command, trace: completion.status, here: answer.status })
    }
  }

  /** Adds a command without a completion in the trace. */
  addUnanswered(command: ReplayableCommand, { latencyNs }: Answer): void {
    const tally = this.of(command)
    tally.unanswered++
    tally.here.add(latencyNs)
  }

  skip(reason: string): void {
    const known = this.skipped.has(reason) || this.skipped.size < MAX_REASONS ? reason : 'others'
    this.skipped.set(known, (this.skipped.get(known) ?? 0) + 1)
  }

  /** Number of commands with a different outcome. */
  get different(): number {
    return [...this.names.values()].reduce((sum, { different }) => sum + different, 0)
  }

  /** Number of sent commands. */
  get sent(): number {
    return [...this.names.values()].reduce((sum, tally) => sum + tally.same + tally.different + tally.unanswered, 0)
  }

  private of({ name }: ReplayableCommand): NameTally {
    let tally = this.names.get(name)
    if (tally === undefined) this.names.set(name, (tally = new NameTally()))
    return tally
  }
}
