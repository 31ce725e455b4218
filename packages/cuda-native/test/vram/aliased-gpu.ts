import type { DeviceMemory, DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { GpuAccess, GpuMemorySource, VramProvider } from '../../src/vram/index.js'

/** The part of `Cuda` that registers memory of this process, from the sources or the built package. */
interface RegisteringGpu {
  register(view: ArrayBufferView): { readonly gpuPointer: bigint; readonly address: bigint; unregister(): void }
}

interface Block {
  readonly gpuPointer: bigint
  readonly memory: DmaMemory
  readonly bytes: Uint8Array
}

/**
 * A GPU whose memory is part of a real-time simulator's memory, registered with the stand-in for libcuda. Kernels
 * access it at `gpuPointer`, and the controller at an IOVA, so that mistaking one address for the other is detected.
 */
export class AliasedGpu implements GpuMemorySource, GpuAccess {
  /** Order of events: 'free', 'release', and those that a test adds. */
  readonly journal: string[] = []
  readonly provider: VramProvider
  private readonly cuda: RegisteringGpu
  private readonly dma: DmaAllocator
  private readonly blocks = new Set<Block>()

  constructor(cuda: RegisteringGpu, dma: DmaAllocator) {
    this.cuda = cuda
    this.dma = dma
    this.provider = {
      name: 'the window of a stand-in',
      map: (gpuPointer, lengthBytes) => {
        const { block, at } = this.find(gpuPointer, lengthBytes)
        return {
          segments: [{ offsetBytes: 0, iova: block.memory.iovaAt(at), lengthBytes }],
          release: () => this.journal.push('release'),
        }
      },
    }
  }

  alloc(lengthBytes: number): DeviceMemory {
    const memory = this.dma.alloc(lengthBytes, { contiguous: true })
    const bytes = new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, lengthBytes)
    const registration = this.cuda.register(bytes)
    const { gpuPointer } = registration
    if (gpuPointer === registration.address) throw new Error('expected different addresses on the GPU and the host')
    const block = { gpuPointer, memory, bytes }
    this.blocks.add(block)
    // The content of GPU memory is initially undefined.
    bytes.fill(0x5a)
    return {
      lengthBytes,
      gpuPointer,
      free: () => {
        if (!this.blocks.delete(block)) throw new TypeError('this GPU memory was freed twice')
        this.journal.push('free')
        registration.unregister()
        memory.free()
      },
    }
  }

  get live(): number {
    return this.blocks.size
  }

  fill(gpuPointer: bigint, lengthBytes: number, byte: number): void {
    this.at(gpuPointer, lengthBytes).fill(byte)
  }

  copyOut(gpuPointer: bigint, into: Uint8Array): void {
    into.set(this.at(gpuPointer, into.length))
  }

  write(gpuPointer: bigint, bytes: Uint8Array): void {
    this.at(gpuPointer, bytes.length).set(bytes)
  }

  read(gpuPointer: bigint, lengthBytes: number): Uint8Array {
    return this.at(gpuPointer, lengthBytes).slice()
  }

  private at(gpuPointer: bigint, lengthBytes: number): Uint8Array {
    const { block, at } = this.find(gpuPointer, lengthBytes)
    return block.bytes.subarray(at, at + lengthBytes)
  }

  private find(gpuPointer: bigint, lengthBytes: number): { block: Block; at: number } {
    for (const block of this.blocks) {
      const at = Number(gpuPointer - block.gpuPointer)
      if (at >= 0 && at + lengthBytes <= block.bytes.length) return { block, at }
    }
    throw new RangeError(`the GPU has nothing at 0x${gpuPointer.toString(16)}`)
  }
}
