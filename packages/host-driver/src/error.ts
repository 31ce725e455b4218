import { GpuNvmeError, type ErrorCategory, type ErrorDetails } from '@gpunvme/nvme-spec'

/**
 * An error of the driver or of a transport that callers distinguish by `code`. Errors that callers catch by type, for
 * what they carry besides, are classes of their own: `DeviceLostError`, `CommandError` and the like.
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
 * Returns whether an error is a DriverError with this code. @param errno of the system call that failed, its `cause`;
 * if it is not given, any.
 */
export function hasCode(error: unknown, code: DriverError['code'], errno?: string): error is DriverError {
  if (!(error instanceof DriverError) || error.code !== code) return false
  return errno === undefined || (error.cause as { readonly code?: unknown } | undefined)?.code === errno
}
