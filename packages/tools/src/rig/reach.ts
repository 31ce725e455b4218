import { CudaMemorySource, type Cuda } from '@gpunvme/cuda-native/cuda'
import { loadHardwareHost } from '@gpunvme/cuda-native/host'
import {
  dmaBufProvider,
  nvidiaStaticBar1,
  VramRefusedError,
  type GpuAccess,
  type GpuMemorySource,
  type ProviderCandidate,
  type StaticBar1Candidate,
} from '@gpunvme/cuda-native/vram'
import type { CudaDevice } from '@gpunvme/cuda-native'
import type { KmodTransport } from '@gpunvme/host-driver/kmod'
import type { VfioTransport } from '@gpunvme/host-driver/vfio'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { closeSync } from 'node:fs'
import { isKnown, valueOf } from '../machine/known.js'
import { Root } from '../machine/root.js'
import { readGpus, readRunning } from '../nvidia/running.js'
import type { ComposeOptions } from './options.js'

/** GPU memory, and the ways to map it for a controller. */
export interface GpuReach {
  readonly memory: GpuMemorySource & GpuAccess
  readonly providers: readonly ProviderCandidate[]
  close(): void
}

/** An open GPU. */
export interface OpenGpu {
  readonly cuda: Cuda
  readonly device: CudaDevice
}

/** Finds the ways to map GPU memory for the controller of a transport. */
export type FindReach = (
  gpu: OpenGpu,
  transport: Transport,
  options: Pick<ComposeOptions, 'staticBar1'>,
) => GpuReach | Promise<GpuReach>

/**
 * Maps CUDA memory by dma-buf for a controller bound to the module gpunvme; on request, through the static window of
 * NVIDIA's driver in BAR1.
 */
export const findReach: FindReach = async (gpu, transport, { staticBar1 = false }) => {
  const { cuda } = gpu
  const memory = new CudaMemorySource(cuda)
  const { dmaBufs, mapPeer } = transport as Partial<Pick<KmodTransport, 'dmaBufs'> & Pick<VfioTransport, 'mapPeer'>>
  const exporter = {
    export: (gpuPointer: bigint, lengthBytes: number) => cuda.exportDmaBuf(gpuPointer, lengthBytes),
    close: closeSync,
  }
  const providers: ProviderCandidate[] = []
  if (dmaBufs !== undefined) providers.push({ name: 'dma-buf', open: () => dmaBufProvider(exporter, dmaBufs) })
  let window: StaticBar1Candidate | undefined
  try {
    if (staticBar1 && mapPeer !== undefined) window = await staticWindow(gpu, memory, mapPeer)
  } catch (error) {
    memory.close()
    throw error
  }
  if (window !== undefined) providers.push(window)
  return {
    memory,
    providers,
    close() {
      window?.close()
      memory.close()
    },
  }
}

async function staticWindow(
  { device: { bdf, memoryBytes } }: OpenGpu,
  memory: CudaMemorySource,
  mapPeer: VfioTransport['mapPeer'],
): Promise<StaticBar1Candidate> {
  const root = new Root('/')
  const [running, gpus] = await Promise.all([readRunning(root), readGpus(root)])
  const version = valueOf(running)?.version
  const minor = gpus.find(({ address }) => address === bdf)?.minor
  if (version === undefined || !isKnown(version) || minor === undefined) return unknownDriver(bdf)
  return nvidiaStaticBar1({
    host: loadHardwareHost(),
    gpu: { bdf, memoryBytes, minor },
    driverVersion: version,
    memory,
    mapPeer,
  })
}

/** Returns a candidate that refuses, so that the choice of the tier lists the reason. */
function unknownDriver(bdf: string): StaticBar1Candidate {
  return {
    name: 'static BAR1',
    open() {
      throw new VramRefusedError({
        ...{ provider: 'static BAR1', reason: 'query-failed' },
        found: 'the version of the driver or its node for the GPU is unknown',
        facts: [`sources: /proc/driver/nvidia/version and /proc/driver/nvidia/gpus/${bdf}/information`],
        next: 'load the module nvidia; in a container, make its files in /proc visible',
      })
    },
    close: () => undefined,
  }
}
