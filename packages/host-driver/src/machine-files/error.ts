import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** A file of a machine, or of a copy of a machine, is of an unexpected kind. */
export class MachineFileError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MACHINE_FILE'
  readonly category = 'infeasible'
  /** 'not a regular file', 'more than 65536 bytes', 'more than 40 symbolic links'. */
  readonly problem: string
  constructor(path: string, problem: string) {
    super(`Cannot read ${path}: ${problem}`, {
      next: "use a folder that 'gpunvme doctor --save' wrote, if this is a copy of a machine",
    })
    this.problem = problem
  }
}
