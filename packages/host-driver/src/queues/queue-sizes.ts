/** Inputs of `queueSizes`. */
export interface QueueDemand {
  /** Requested commands in flight on each submission queue, 1 or more. */
  readonly queueDepth: number
  /** Requested entries of each submission queue, 2 or more. Default: from `queueDepth`. */
  readonly queueEntries: number | undefined
  /** Maximum number of submission queues that share a completion queue: 1 to `maxQueueEntries` - 1. */
  readonly sharers: number
  /** Entries of the largest queue that the controller supports (CAP.MQES), 2 or more. */
  readonly maxQueueEntries: number
}

/** Sizes of the I/O queues of plans. */
export interface QueueSizes {
  readonly sqEntries: number
  readonly cqEntries: number
  /** Maximum number of commands in flight on each submission queue. */
  readonly inFlight: number
}

/**
 * Returns the sizes of the I/O queues of plans. Unless `queueEntries` is given, submission queues have a power of two of
 * entries, and completion queues that are not shared always have as many as their submission queues: kernels
 * need both.
 */
export function queueSizes({ queueDepth, queueEntries, sharers, maxQueueEntries }: QueueDemand): QueueSizes {
  // A queue holds one command fewer than it has entries: if all were used, a full queue would look empty.
  const sqEntries =
    queueEntries === undefined
      ? Math.min(powerOfTwoFrom(queueDepth + 1), powerOfTwoTo(maxQueueEntries))
      : Math.min(queueEntries, maxQueueEntries)
  const depth = Math.min(queueDepth, sqEntries - 1)
  if (sharers === 1) return { sqEntries, cqEntries: sqEntries, inFlight: depth }
  // The completion queue has room for all commands in flight, so that it cannot overflow.
  const cqEntries = Math.min(powerOfTwoFrom(depth * sharers + 1), maxQueueEntries)
  return { sqEntries, cqEntries, inFlight: Math.min(depth, Math.floor((cqEntries - 1) / sharers)) }
}

/** Returns the smallest power of two that is not below `value`. */
function powerOfTwoFrom(value: number): number {
  return 2 ** Math.ceil(Math.log2(value))
}

/** Returns the largest power of two that is not above `value`. */
function powerOfTwoTo(value: number): number {
  return 2 ** Math.floor(Math.log2(value))
}
