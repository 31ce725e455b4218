import { GpuNvmeError, type ErrorDetails } from '@gpunvme/nvme-spec/error'
import { renderStep, type NextStep } from './next-step.js'

/** `ErrorDetails` with a next step as data. */
export interface ToolsErrorDetails extends Omit<ErrorDetails, 'next'> {
  readonly next?: NextStep | undefined
}

/** Base class of the errors of this package: their next steps may be commands of this program. */
export abstract class ToolsError extends GpuNvmeError {
  /** Next step as data. `next` is its text, with commands as for an installed program. */
  readonly step: NextStep | undefined

  constructor(headline: string, { next, ...details }: ToolsErrorDetails = {}) {
    super(headline, { ...details, next: next === undefined ? undefined : renderStep(next) })
    this.step = next
  }
}
