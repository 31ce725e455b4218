import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { NS_PER_MS } from '../wait.js'

/**
 * Time limit of the Admin commands of one bring-up together, and of those that list the namespaces again. Each command
 * has its own limit beside it, but the controller decides how many namespaces there are to ask for.
 */
export const COMMANDS_TOGETHER_NS = 60_000 * NS_PER_MS

/** A controller answered each command in time, and all of them together took too long. */
export class ControllerTooSlowError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_CONTROLLER_TOO_SLOW'
  readonly category = 'device'
  constructor(name: string, what: 'bring-up' | 'listing its namespaces', limitNs: number, cause?: unknown) {
    super(`Controller ${name} did not complete ${what} in ${limitNs / 1e9} s`, {
      next: 'power-cycle the drive and open it again; if it is still as slow, use another drive',
      cause,
    })
  }
}
