/** How the simulator is driven for a published figure: so many commands of one size, so many at a time. */
export interface Workload {
  readonly operation: 'read' | 'write'
  readonly blockBytes: number
  readonly depth: number
  /** What the host itself spends on each command, one after the other; none when not given. */
  readonly hostCommandNs?: number
  /** How many commands the figure is about; as many as a steady state takes when not given. */
  readonly commands?: number
  /** Measured on a drive that is too hot; otherwise on a cool one. */
  readonly isHot?: boolean
}

/**
 * A figure that somebody has published about a drive, and what it is to us: `fitted` ones gave the preset its
 * figures, `held-back` ones gave nothing and show what the preset is worth.
 */
export interface PublishedPoint {
  readonly what: string
  readonly publishedValue: number
  /**
   * Rates: 'MiB/s', 'MB/s', 'commands/s'. 'µs mean' is the mean latency of a command, 'ms' the whole of a run,
   * 's until hot' the time at full rate until the drive slows down.
   */
  readonly unit: 'MiB/s' | 'MB/s' | 'commands/s' | 'µs mean' | 'ms' | 's until hot'
  readonly use: 'fitted' | 'held-back'
  readonly source: string
  readonly workload: Workload
  /** Why it is off, where it is. */
  readonly note?: string
}
