/** A kernel ends after this time even if it has work, and is launched again, so that waits for all kernels can end. */
const RUN_LIMIT_NS = 5_000_000_000

/** Limit on GPUs with a display or a debugger, whose driver ends kernels that run for some seconds, and their context. */
const SHORT_RUN_LIMIT_NS = 400_000_000

/** Streams besides that of the engine's kernel: copies of the engine, copies of the caller, and one for other work. */
const OTHER_STREAMS = 3

/** Limits of a GPU's driver. */
export interface DriverLimits {
  /** Number of hardware work queues. In a shared one, work behind a kernel waits until the kernel ends. */
  readonly connections: number
  /** Whether the driver ends long-running kernels. */
  readonly hasTimeLimit: boolean
}

/**
 * Returns the run time of a kernel per launch, in nanoseconds; 0 for no limit.
 * @param isPersistent whether the kernel lingers forever.
 * @throws RangeError if it lingers forever and the driver does not allow it.
 */
export function runLimitOf(isPersistent: boolean, { connections, hasTimeLimit }: DriverLimits): number {
  if (!isPersistent) return hasTimeLimit ? SHORT_RUN_LIMIT_NS : RUN_LIMIT_NS
  if (hasTimeLimit) {
    throw new RangeError(
      'lingerNs: expected a finite number, got Infinity: the driver ends long-running kernels on this GPU, as on one with a display',
    )
  }
  if (connections <= OTHER_STREAMS) {
    throw new RangeError(
      `lingerNs: expected a finite number with ${connections} hardware work queues, got Infinity; set one, or start the program ` +
        'with CUDA_DEVICE_MAX_CONNECTIONS=32',
    )
  }
  return 0
}
