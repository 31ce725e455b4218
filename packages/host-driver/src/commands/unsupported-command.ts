import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** The controller, or the namespace, says that it does not have what was asked for. Nothing was sent. */
export class UnsupportedCommandError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNSUPPORTED_COMMAND'
  readonly category = 'infeasible'
  /** The specification's name of what is missing. */
  readonly command: string
  /** @param says where the controller says so: 'ONCS.NVMCPYS is 0'. */
  constructor(command: string, says: string, next?: string) {
    super(`This controller does not have ${command}`, { facts: [says], ...(next !== undefined && { next }) })
    this.command = command
  }
}
