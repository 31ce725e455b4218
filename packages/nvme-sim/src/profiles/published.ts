/** Workload of a published figure: number, size and depth of commands. */
export interface Workload {
  readonly operation: 'read' | 'write'
  readonly blockBytes: number
  readonly depth: number
  /** Time that the host spends per command, serially. Default: 0. */
  readonly hostCommandNs?: number
  /** Number of commands. Default: enough for a steady state. */
  readonly commands?: number
  /** Measured on a throttled drive; otherwise on a cool one. */
  readonly isHot?: boolean
}

/**
 * A published figure of a drive. `fitted` ones determined the preset's figures; `held-back` ones did not, and show how
 * good the preset is.
 */
export interface PublishedPoint {
  readonly metric: string
  readonly publishedValue: number
  /**
   * Rates: 'MiB/s', 'MB/s', 'commands/s'. 'µs mean' is the mean latency of a command, 'ms' the duration of a run, 's
   * until hot' the time at full rate until the drive slows down.
   */
  readonly unit: 'MiB/s' | 'MB/s' | 'commands/s' | 'µs mean' | 'ms' | 's until hot'
  readonly use: 'fitted' | 'held-back'
  readonly source: string
  readonly workload: Workload
  /** Reason of a deviation, if there is one. */
  readonly note?: string
}
