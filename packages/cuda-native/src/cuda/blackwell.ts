import { GpuNvmeError } from '@gpunvme/nvme-spec'

/**
 * Major compute capability of the first Blackwell GPUs. Registering a drive's BAR0 with one, an RTX 5060 Ti in a desktop,
 * froze the machine, for an unknown reason. Newer GPUs are untested.
 */
export const FIRST_BLACKWELL = 10

/** Error: refused to register a drive's registers with a GPU of the Blackwell generation or newer. Nothing was registered. */
export class BlackwellRegistersError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_BLACKWELL_REGISTERS'
  readonly category = 'infeasible'

  /** @param transport name of the transport. The second parameter is the GPU's compute capability, major and minor. */
  constructor(transport: string, [major, minor]: readonly [number, number]) {
    super(`Refused to register the registers of '${transport}' with a GPU of compute capability ${major}.${minor}`, {
      facts: [
        'registering a drive’s BAR0 with a Blackwell GPU (10.0 and newer; an RTX 5060 Ti) froze a machine',
        '{ riskBlackwellRegisters: true } overrides this; the machine may freeze',
      ],
      next: "use the engine 'host', or cudaEngine with { doorbells: 'cpu' }: a thread then writes the doorbells, the GPU does the rest",
    })
  }
}
