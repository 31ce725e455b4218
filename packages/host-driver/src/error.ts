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
