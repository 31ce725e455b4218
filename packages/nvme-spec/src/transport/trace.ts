/** Trace events. `@gpunvme/nvme-spec/trace` writes them. */

/** One event, for a trace writer of `@gpunvme/nvme-spec/trace`. */
export interface TraceEvent {
  /** Time of the event or of its start: nanoseconds of the transport's clock, below 2^53. */
  readonly timeNs: number
  /** Where it happened: 'bar', 'sq 1', 'slot 0'. */
  readonly track: string
  /** Event name, one or two words: 'fetch', 'write CC'. */
  readonly name: string
  /** Duration; absent for an instant. */
  readonly durationNs?: number
  /** Further facts. Text that names its own fields, such as that of `formatSqe`, is printed without its key. */
  readonly details?: Readonly<Record<string, string | number>>
}

/** Receives events as they happen. Every trace writer is one. */
export type TraceSink = (event: TraceEvent) => void
