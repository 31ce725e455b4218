import { GpuNvmeError } from '@gpunvme/nvme-spec'

/**
 * The major compute capability of the first Blackwell GPUs. Registering a drive's BAR0 with one of them, an RTX 5060 Ti in
 * a desktop, froze the machine; why is not known, and whether those after it are better has nobody seen.
 */
export const FIRST_BLACKWELL = 10

/** A drive's registers would have been given to a GPU that is not known to bear it. Nothing was registered. */
export class BlackwellRegistersError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_BLACKWELL_REGISTERS'
  readonly category = 'infeasible'

  /** @param transport its name. @param computeCapability the GPU's, major and minor. */
  constructor(transport: string, [major, minor]: readonly [number, number]) {
    super(`The registers of '${transport}' were not given to a GPU of compute capability ${major}.${minor}`, {
      facts: [
        'a drive’s BAR0 that was registered with a Blackwell GPU (10.0 and newer; an RTX 5060 Ti) froze its machine',
        '{ riskBlackwellRegisters: true } does it all the same, on a machine that may freeze',
      ],
      next: "the engine 'cpu-kernel' or 'host', whose doorbells the CPU rings; data can go to the GPU with them too",
    })
  }
}
