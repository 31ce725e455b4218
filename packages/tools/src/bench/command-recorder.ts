import type { BenchCommand } from '../report/bench-results.js'
import { LatencyHistogram } from './latency-histogram.js'

/** Maximum commands of a timeline. */
const MAX_COMMANDS = 400

/** Records the latencies of commands, and the first commands individually. */
export class CommandRecorder {
  readonly histogram = new LatencyHistogram()
  readonly commands: BenchCommand[] = []
  private readonly blockBytes: number
  private readonly withTimeline: boolean

  constructor(blockBytes: number, withTimeline: boolean) {
    this.blockBytes = blockBytes
    this.withTimeline = withTimeline
  }

  /** Callback of HostEngine. */
  readonly onCompleted = (queue: number, _slot: number, startNs: number, endNs: number): void => {
    this.histogram.add(endNs - startNs)
    if (!this.withTimeline || this.commands.length >= MAX_COMMANDS) return
    // Queue 0 is the Admin queue.
    this.commands.push({ queue: queue + 1, startNs, endNs, bytes: this.blockBytes })
  }

  /** Discards all records, for example those of the warm-up. */
  clear(): void {
    this.histogram.clear()
    this.commands.length = 0
  }

  /** Returns commands in the order of submission, with times relative to the first. */
  timeline(): BenchCommand[] {
    const firstNs = this.commands.reduce((least, { startNs }) => Math.min(least, startNs), Infinity)
    return this.commands
      .map((command) => ({ ...command, startNs: command.startNs - firstNs, endNs: command.endNs - firstNs }))
      .sort((a, b) => a.startNs - b.startNs)
  }
}
