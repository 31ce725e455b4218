import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { NS_PER_MS } from '../wait.js'

/**
 * Total time limit for the Admin commands of one bring-up, and for the commands of one later namespace listing. Each
 * command also has its own limit, but the controller determines the number of namespaces to identify.
 */
export const COMMANDS_TOGETHER_NS = 60_000 * NS_PER_MS

/** A controller completed each command in time, but all commands together exceeded the total time limit. */
export class ControllerTooSlowError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CONTROLLER_TOO_SLOW'
  readonly category = 'device'
  constructor(name: string, what: 'bring-up' | 'listing its namespaces', limitNs: number, cause?: unknown) {
    super(`Controller ${name} did not complete ${what} in ${limitNs / 1e9} s`, {
      next: 'power-cycle the drive and open it again; if it is still too slow, use another drive',
      cause,
    })
  }
}
