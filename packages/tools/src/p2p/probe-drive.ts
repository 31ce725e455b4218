import { cudaStatus } from '@gpunvme/cuda-native'
import {
  BlackwellRegistersError,
  CudaRegisterWriter,
  CudaUnavailableError,
  openCuda,
  type Cuda,
} from '@gpunvme/cuda-native/cuda'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { probeError, probeStores, type ProbeResult } from './probe.js'

export interface DriveProbe extends ProbeResult {
  /** Whether the drive's registers are memory, so that the result does not apply to a bus. */
  readonly isSimulated: boolean
}

/**
 * Opens the GPU, maps the drive's registers for it, runs the probe, and unmaps them.
 * @param device CUDA's number of the GPU.
 * @throws ToolsError (PROBE), also for registers that are not memory-mapped; BlackwellRegistersError; errors of `openCuda` and
 * `probeStores`.
 */
export async function probeDrive(transport: Transport, device: number, signal: AbortSignal): Promise<DriveProbe> {
  const { window } = transport.bar
  if (window === undefined)
    throw probeError(
      'infeasible',
      `The registers of ${transport.name} are not memory-mapped: a GPU cannot write them`,
      {
        next: 'use --drive ADDRESS, or a simulated drive with --real-time',
      },
    )
  if (window.isMemory !== true) refuseFreezing(transport.name, device)
  const cuda = openGpu(device)
  let result: DriveProbe
  try {
    const writer = new CudaRegisterWriter(cuda, window)
    result = { ...(await probeStores(transport.bar, writer, { signal })), isSimulated: window.isMemory === true }
    writer.close()
  } catch (error) {
    // The first error is reported; closing the GPU ends the registration.
    await Promise.allSettled([cuda.close()])
    throw error
  }
  await cuda.close()
  return result
}

/** @throws ToolsError (PROBE) without a GPU, which no other engine can replace here; errors of `openCuda` */
function openGpu(device: number): Cuda {
  try {
    return openCuda({ device })
  } catch (error) {
    if (!(error instanceof CudaUnavailableError)) throw error
    throw probeError('not-found', `No GPU for the probe: ${error.headline}`, {
      next: { command: ['doctor'], note: 'which reports what is missing' },
    })
  }
}

/** @throws BlackwellRegistersError for a GPU that froze a machine when a drive's registers were mapped. */
function refuseFreezing(name: string, device: number): void {
  const status = cudaStatus()
  const gpu = status.available ? status.devices[device] : undefined
  if (gpu?.engine.reasons.some(({ code }) => code === 'blackwell-registers') !== true) return
  const [major = 0, minor = 0] = gpu.computeCapability.split('.').map(Number)
  throw new BlackwellRegistersError(name, [major, minor])
}
