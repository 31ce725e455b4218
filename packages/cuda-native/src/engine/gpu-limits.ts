/** A kernel with more to do is started anew after so long: what waits for kernels to end gets its turn. */
const RUN_LIMIT_NS = 5_000_000_000

/** Where a display hangs on the GPU, or a debugger: the driver ends kernels that run for some seconds, and all with them. */
const SHORT_RUN_LIMIT_NS = 400_000_000

/** Streams that no leader has: for copies of the engine, of the caller, and one for whatever else there is. */
const OTHER_STREAMS = 3

/**
 * How long a kernel runs at a time, in nanoseconds; 0 for as long as it lives. @param isPersistent it is to linger without
 * an end. @param hasTimeLimit the driver ends kernels that run for long. @throws RangeError where these exclude each other.
 */
export function runLimitOf(isPersistent: boolean, hasTimeLimit: boolean): number {
  if (!hasTimeLimit) return isPersistent ? 0 : RUN_LIMIT_NS
  if (!isPersistent) return SHORT_RUN_LIMIT_NS
  throw new RangeError(
    'lingerNs: expected a number on this GPU, whose driver ends kernels that run for long, as where a display hangs on it;' +
      ' got Infinity',
  )
}

/**
 * Streams beyond the hardware work queues share some of them: what is behind a leader there waits for it to end.
 * @throws RangeError for more leaders than have queues of their own.
 */
export function checkConnections(leaders: number, connections: number, isPersistent: boolean): void {
  const most = Math.max(1, connections - OTHER_STREAMS)
  const next = 'start the program with CUDA_DEVICE_MAX_CONNECTIONS=32'
  if (leaders > most) {
    throw new RangeError(
      `queues: expected at most ${most} completion queues with ${connections} hardware work queues, got ${leaders}; ` +
        `ask for fewer completionQueues, or ${next}`,
    )
  }
  if (isPersistent && connections <= OTHER_STREAMS) {
    throw new RangeError(
      `lingerNs: expected a number with ${connections} hardware work queues, got Infinity; give one, or ${next}`,
    )
  }
}
