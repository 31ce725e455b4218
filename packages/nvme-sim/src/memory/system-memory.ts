import type { DmaAllocator, DmaMemory, DmaRequest } from '@gpunvme/nvme-spec/transport'
import { FIRST_GPU_IOVA, type SimulatedGpu } from '../gpu/simulated-gpu.js'
import type { HostMemory } from './host-memory.js'
import type { ReachableMemory } from './reachable.js'

/** The memory of a host with a GPU: host memory, and GPU memory as accessible to the controller. */
export class SystemMemory implements DmaAllocator, ReachableMemory {
  private readonly host: HostMemory
  private readonly gpu: SimulatedGpu

  constructor(host: HostMemory, gpu: SimulatedGpu) {
    this.host = host
    this.gpu = gpu
  }

  alloc(lengthBytes: number, request: DmaRequest = {}): DmaMemory {
    if (request.where !== 'gpu') return this.host.alloc(lengthBytes, request)
    if (this.gpu.dmaToVram) return this.gpu.alloc(lengthBytes, request)
    throw new TypeError('alloc: the controller cannot access the memory of this GPU (dmaToVram: false)')
  }

  bytes(iova: number, lengthBytes: number): Uint8Array | undefined {
    return this.at(iova).bytes(iova, lengthBytes)
  }

  pieces(iova: number, lengthBytes: number): readonly Uint8Array[] | undefined {
    return this.at(iova).pieces(iova, lengthBytes)
  }

  has(iova: number, lengthBytes: number): boolean {
    return this.at(iova).has(iova, lengthBytes)
  }

  explainUnmapped(iova: number): string {
    return this.at(iova).explainUnmapped(iova)
  }

  private at(iova: number): HostMemory {
    return iova >= FIRST_GPU_IOVA && this.gpu.dmaToVram ? this.gpu.memory : this.host
  }
}
