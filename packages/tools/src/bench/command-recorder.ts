import type { BenchCommand } from '../report/bench-results.js'
import { LatencyHistogram } from './latency-histogram.js'

/** As many as a picture of the queues can show. */
const MOST_COMMANDS = 400

/** Takes down how long commands took, and the first of them one by one. */
export class CommandRecorder {
  readonly histogram = new LatencyHistogram()
  readonly commands: BenchCommand[] = []
  private readonly blockBytes: number
  private readonly withTimeline: boolean

  constructor(blockBytes: number, withTimeline: boolean) {
    this.blockBytes = blockBytes
    this.withTimeline = withTimeline
  }

  /** As HostEngine tells it. */
  readonly onCompleted = (queue: number, _slot: number, startNs: number, endNs: number): void => {
    this.histogram.add(endNs - startNs)
    if (!this.withTimeline || this.commands.length >= MOST_COMMANDS) return
    // Queue 0 is Admin.
    this.commands.push({ queue: queue + 1, startNs, endNs, bytes: this.blockBytes })
  }

  /** Forgets what there was, as that of a warm-up. */
  clear(): void {
    this.histogram.clear()
    this.commands.length = 0
  }

  /** In the order in which they were submitted, with times from the first of them. */
  timeline(): BenchCommand[] {
    const firstNs = this.commands.reduce((least, { startNs }) => Math.min(least, startNs), Infinity)
    return this.commands
      .map((command) => ({ ...command, startNs: command.startNs - firstNs, endNs: command.endNs - firstNs }))
      .sort((a, b) => a.startNs - b.startNs)
  }
}
