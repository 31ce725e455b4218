import { GpuNvmeError, type ErrorCategory, type ErrorDetails } from '@gpunvme/nvme-spec/error'
import { renderStep, type NextStep } from './next-step.js'

/** `ErrorDetails` with a next step as data. */
export interface ToolsErrorDetails extends Omit<ErrorDetails, 'next'> {
  readonly next?: NextStep | undefined
}

/** Error of this package: its next step may be a command of this program. Subclasses are for callers that catch by type. */
export class ToolsError extends GpuNvmeError {
  readonly code: GpuNvmeError['code']
  readonly category: ErrorCategory
  /** Next step as data. `next` is its text, with commands as for an installed program. */
  readonly step: NextStep | undefined

  constructor(
    code: GpuNvmeError['code'],
    category: ErrorCategory,
    headline: string,
    { next, ...details }: ToolsErrorDetails = {},
  ) {
    super(headline, { ...details, next: next === undefined ? undefined : renderStep(next) })
    this.code = code
    this.category = category
    this.step = next
  }
}

/** Error of invalid arguments. Nothing was opened or changed. */
export class UsageError extends ToolsError {
  constructor(headline: string, details?: ToolsErrorDetails) {
    super('ERR_GPUNVME_USAGE', 'usage', headline, details)
  }
}
