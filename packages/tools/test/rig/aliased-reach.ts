import type { DmaAllocator, DmaMemory, Transport } from '@gpunvme/nvme-spec/transport'
import { expect } from 'vitest'
import { AliasedGpu } from '../../../cuda-native/test/vram/aliased-gpu.js'
import type { GpuReach, OpenGpu } from '../../src/rig/reach.js'

const MIB = 1024 * 1024

/** Allocates each part of an arena once, so that no host buffer is registered at former GPU memory. */
function reservedIn(arena: DmaMemory): DmaAllocator {
  let next = 0
  return {
    alloc(lengthBytes) {
      const at = next
      next += lengthBytes
      if (next > arena.lengthBytes) throw new RangeError(`no room for ${lengthBytes} bytes`)
      const iovaAt = (offsetBytes: number) => arena.iovaAt(at + offsetBytes)
      return {
        lengthBytes,
        view: new DataView(arena.view!.buffer, arena.view!.byteOffset + at, lengthBytes),
        segments: [{ offsetBytes: 0, iova: iovaAt(0), lengthBytes }],
        iovaAt,
        forDevice: () => undefined,
        forHost: () => undefined,
        free: () => undefined,
      }
    },
  }
}

/** Maps the GPU memory of the stand-in for the controller of a real-time drive. */
export const aliasedReach = ({ cuda }: OpenGpu, { dma }: Transport): GpuReach => {
  const arena = dma.alloc(128 * MIB, { contiguous: true })
  const memory = new AliasedGpu(cuda, reservedIn(arena))
  // With a part registered, copies register their own buffers only, not all memory of the drive.
  const registered = memory.alloc(2 * MIB)
  return {
    memory,
    providers: [{ name: memory.provider.name, open: () => memory.provider }],
    close() {
      registered.free()
      expect(memory.live).toBe(0)
      arena.free()
    },
  }
}
