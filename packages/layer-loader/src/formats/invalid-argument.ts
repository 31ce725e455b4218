import { GpuNvmeError } from '@gpunvme/nvme-spec/error'

/** Error of an argument of a wrong kind, such as a model file where a model on a store is expected. */
export class InvalidArgumentError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_INVALID_ARGUMENT'
  readonly category = 'usage'
  /** Name of the parameter or option. */
  readonly argument: string

  constructor(argument: string, expected: string, got: string, next?: string) {
    super(`${argument}: expected ${expected}, got ${got}`, { next })
    this.argument = argument
  }
}
