import type { TraceCompletion } from '@gpunvme/nvme-spec/transport'
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
  readonly replay: string
}

/** Totals of commands with one name. */
export class NameTally {
  same = 0
  different = 0
  /** Completed here but not in the trace. */
  unanswered = 0
  readonly trace = new LatencyTally()
  readonly replay = new LatencyTally()
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
    tally.replay.add(answer.latencyNs)
    if (answer.sct === completion.sct && answer.sc === completion.sc) {
      tally.same++
      return
    }
    tally.different++
    if (this.differences.length < MAX_DIFFERENCES) {
      this.differences.push({ line, command, trace: completion.status, replay: answer.status })
    }
  }

  /** Adds a command without a completion in the trace. */
  addUnanswered(command: ReplayableCommand, { latencyNs }: Answer): void {
    const tally = this.of(command)
    tally.unanswered++
    tally.replay.add(latencyNs)
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

/** Summary of durations in nanoseconds. */
export interface LatencySummary {
  readonly count: number
  readonly meanNs: number
  readonly p50Ns: number
  readonly p99Ns: number
  readonly maxNs: number
}

const DIGITS = 3

/** Collects any number of durations in constant memory; percentiles are exact to three digits. */
export class LatencyTally {
  private readonly counts = new Map<number, number>()
  private count = 0
  private sumNs = 0
  private maxNs = 0

  add(ns: number): void {
    const rounded = Number(ns.toPrecision(DIGITS))
    this.counts.set(rounded, (this.counts.get(rounded) ?? 0) + 1)
    this.count++
    this.sumNs += ns
    this.maxNs = Math.max(this.maxNs, ns)
  }

  summary(): LatencySummary {
    const { count, sumNs, maxNs } = this
    const sorted = [...this.counts].sort(([a], [b]) => a - b)
    const percentile = (share: number) => {
      let left = Math.ceil(count * share)
      for (const [ns, times] of sorted) {
        left -= times
        if (left <= 0) return Math.min(ns, maxNs)
      }
      return maxNs
    }
    return { count, meanNs: count === 0 ? 0 : sumNs / count, p50Ns: percentile(0.5), p99Ns: percentile(0.99), maxNs }
  }
}
