import { GpuNvmeError, type ErrorCategory, type ErrorDetails } from '@gpunvme/nvme-spec'

/**
 * An error of the driver or of a transport that callers distinguish by `code`. Errors with fields that callers
 * need have their own classes, such as `DeviceLostError` and `CommandError`.
 */
export class DriverError extends GpuNvmeError {
  readonly code: `ERR_GPUNVME_${string}`
  readonly category: ErrorCategory

  constructor(code: DriverError['code'], category: ErrorCategory, headline: string, details?: ErrorDetails) {
    super(headline, details)
    this.code = code
    this.category = category
  }
}

/**
 * Returns whether an error is a DriverError with this code. @param errno of the failed system call, which is
 * its `cause`. Default: any.
 */
export function hasCode(error: unknown, code: DriverError['code'], errno?: string): error is DriverError {
  if (!(error instanceof DriverError) || error.code !== code) return false
  return errno === undefined || (error.cause as { readonly code?: unknown } | undefined)?.code === errno
}
