import { cudaStatus, EngineUnsuitableError } from '@gpunvme/cuda-native'
import { BlackwellRegistersError, CudaRegisterWriter, openCuda } from '@gpunvme/cuda-native/cuda'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { probeStores, type ProbeResult } from './probe.js'

/**
 * Opens the GPU, lets it reach the drive's registers, makes the probe, and takes them away again.
 * @param device CUDA's number of the GPU.
 * @throws EngineUnsuitableError for registers that are no memory; BlackwellRegistersError; as `openCuda`, `probeStores`.
 */
export async function probeDrive(transport: Transport, device: number, signal: AbortSignal): Promise<ProbeResult> {
  const { window } = transport.bar
  if (window === undefined) throw new EngineUnsuitableError('cuda', transport.name)
  if (window.isMemory !== true) refuseFreezing(transport.name, device)
  const cuda = openCuda({ device })
  let result: ProbeResult
  try {
    const writer = new CudaRegisterWriter(cuda, window)
    result = await probeStores(transport.bar, writer, { signal })
    writer.close()
  } catch (error) {
    // What went wrong first is what is to be told; the registration goes with the GPU.
    await Promise.allSettled([cuda.close()])
    throw error
  }
  await cuda.close()
  return result
}

/** @throws BlackwellRegistersError for a GPU that has frozen a machine when it had a drive's registers. */
function refuseFreezing(name: string, device: number): void {
  const status = cudaStatus()
  const gpu = status.available ? status.devices[device] : undefined
  if (gpu?.engine.reasons.some(({ code }) => code === 'blackwell-registers') !== true) return
  const [major = 0, minor = 0] = gpu.computeCapability.split('.').map(Number)
  throw new BlackwellRegistersError(name, [major, minor])
}
