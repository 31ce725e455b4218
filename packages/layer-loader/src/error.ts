import { GpuNvmeError, type ErrorCategory, type ErrorDetails } from '@gpunvme/nvme-spec/error'
import type { Remedy } from './image/remedy.js'

/**
 * An error of this package that callers distinguish by `code`. Errors with fields that callers need have their own
 * classes, such as `VerificationError`.
 */
export class LoaderError extends GpuNvmeError {
  readonly code: `ERR_GPUNVME_${string}`
  readonly category: ErrorCategory
  /** Repair of a damaged image; undefined for other errors. */
  readonly remedy: Remedy | undefined

  constructor(
    code: LoaderError['code'],
    category: ErrorCategory,
    headline: string,
    { remedy, ...details }: ErrorDetails & { readonly remedy?: Remedy } = {},
  ) {
    super(headline, details)
    this.code = code
    this.category = category
    this.remedy = remedy
  }
}

/** Returns whether an error is a LoaderError with this code. */
export function hasCode(error: unknown, code: LoaderError['code']): error is LoaderError {
  return error instanceof LoaderError && error.code === code
}
