import { GpuNvmeError } from '@gpunvme/nvme-spec/error'

/** The arguments cannot be meant. Nothing was opened or touched. */
export class UsageError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_USAGE'
  readonly category = 'usage'
}
