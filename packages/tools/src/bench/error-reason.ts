import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { renderStep } from '../command-line/next-step.js'
import { stepOf } from '../command-line/step-of.js'
import type { BenchReason } from '../report/bench-results.js'

/**
 * Returns why a source was not measured, and the next step by the options of `bench`. Results are read on other
 * machines, so commands are those of an installed program.
 */
export function reasonOf(error: GpuNvmeError): BenchReason {
  const step = stepOf(error, '--engines')
  return { reason: error.headline, ...(step !== undefined && { next: renderStep(step) }) }
}
