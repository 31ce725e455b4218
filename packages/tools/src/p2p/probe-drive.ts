import { cudaStatus } from '@gpunvme/cuda-native'
import {
  BlackwellRegistersError,
  CudaRegisterWriter,
  CudaUnavailableError,
  openCuda,
  type Cuda,
} from '@gpunvme/cuda-native/cuda'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { ProbeError, probeStores, type ProbeResult } from './probe.js'

export interface DriveProbe extends ProbeResult {
  /** The drive's registers are memory: stores come by no bus, and nothing is shown of one. */
  readonly isSimulated: boolean
}

/**
 * Opens the GPU, lets it reach the drive's registers, makes the probe, and takes them away again.
 * @param device CUDA's number of the GPU.
 * @throws ProbeError for registers that are no memory, too; BlackwellRegistersError; as `openCuda`, `probeStores`.
 */
export async function probeDrive(transport: Transport, device: number, signal: AbortSignal): Promise<DriveProbe> {
  const { window } = transport.bar
  if (window === undefined)
    throw new ProbeError('infeasible', `The registers of ${transport.name} are not memory: no GPU can store there`, {
      next: '--drive ADDRESS, or a simulated drive with --real-time',
    })
  if (window.isMemory !== true) refuseFreezing(transport.name, device)
  const cuda = openGpu(device)
  let result: DriveProbe
  try {
    const writer = new CudaRegisterWriter(cuda, window)
    result = { ...(await probeStores(transport.bar, writer, { signal })), isSimulated: window.isMemory === true }
    writer.close()
  } catch (error) {
    // What went wrong first is what is to be told; the registration goes with the GPU.
    await Promise.allSettled([cuda.close()])
    throw error
  }
  await cuda.close()
  return result
}

/** @throws ProbeError where there is none, since no other engine stands in for it here; as `openCuda` */
function openGpu(device: number): Cuda {
  try {
    return openCuda({ device })
  } catch (error) {
    if (!(error instanceof CudaUnavailableError)) throw error
    throw new ProbeError('not-found', `There is no GPU to store with: ${error.headline}`, {
      next: { command: ['doctor'], note: 'which looks for what is missing' },
    })
  }
}

/** @throws BlackwellRegistersError for a GPU that has frozen a machine when it had a drive's registers. */
function refuseFreezing(name: string, device: number): void {
  const status = cudaStatus()
  const gpu = status.available ? status.devices[device] : undefined
  if (gpu?.engine.reasons.some(({ code }) => code === 'blackwell-registers') !== true) return
  const [major = 0, minor = 0] = gpu.computeCapability.split('.').map(Number)
  throw new BlackwellRegistersError(name, [major, minor])
}
