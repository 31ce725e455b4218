/** A kernel ends after this time even if it has work, and is launched again, so that waits for all kernels can end. */
const RUN_LIMIT_NS = 5_000_000_000

/** Limit on GPUs with a display or a debugger, whose driver ends kernels that run for some seconds, and their context. */
const SHORT_RUN_LIMIT_NS = 400_000_000

/** Streams besides those of leaders: copies of the engine, copies of the caller, and one for other work. */
const OTHER_STREAMS = 3

/**
 * Returns the run time of a kernel per launch, in nanoseconds; 0 for no limit.
 * @param isPersistent whether the kernel lingers forever.
 * @param hasTimeLimit whether the driver ends long-running kernels.
 * @throws RangeError if both are true.
 */
export function runLimitOf(isPersistent: boolean, hasTimeLimit: boolean): number {
  if (!hasTimeLimit) return isPersistent ? 0 : RUN_LIMIT_NS
  if (!isPersistent) return SHORT_RUN_LIMIT_NS
  throw new RangeError(
    'lingerNs: expected a finite number, got Infinity: the driver ends long-running kernels on this GPU, as on one with a display',
  )
}

/**
 * Checks that every leader can have its own hardware work queue. In a shared one, work behind a leader waits for its end.
 * @throws RangeError if there are too few.
 */
export function checkConnections(leaders: number, connections: number, isPersistent: boolean): void {
  const most = Math.max(1, connections - OTHER_STREAMS)
  const next = 'start the program with CUDA_DEVICE_MAX_CONNECTIONS=32'
  if (leaders > most) {
    throw new RangeError(
      `queues: expected at most ${most} completion queues with ${connections} hardware work queues, got ${leaders}; ` +
        `use fewer completionQueues, or ${next}`,
    )
  }
  if (isPersistent && connections <= OTHER_STREAMS) {
    throw new RangeError(
      `lingerNs: expected a finite number with ${connections} hardware work queues, got Infinity; set one, or ${next}`,
    )
  }
}
