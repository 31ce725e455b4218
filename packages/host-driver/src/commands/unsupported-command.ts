import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** The controller or the namespace does not support a command or feature. Nothing was sent. */
export class UnsupportedCommandError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNSUPPORTED_COMMAND'
  readonly category = 'infeasible'
  /** Name of the missing command or feature in the specification. */
  readonly command: string
  /** @param says the field that says so: 'ONCS.NVMCPYS is 0'. */
  constructor(command: string, says: string, next?: string) {
    super(`This controller does not support ${command}`, { facts: [says], ...(next !== undefined && { next }) })
    this.command = command
  }
}
