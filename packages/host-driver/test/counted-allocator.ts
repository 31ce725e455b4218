import type { DmaAllocator } from '@gpunvme/nvme-spec/transport'

/** Wraps an allocator to count the bytes of memory that is not freed. */
export function countedAllocator(dma: DmaAllocator): DmaAllocator & { readonly bytesInUse: number } {
  let bytesInUse = 0
  return {
    get bytesInUse() {
      return bytesInUse
    },
    alloc(lengthBytes, request) {
      const memory = dma.alloc(lengthBytes, request)
      bytesInUse += lengthBytes
      const free = memory.free.bind(memory)
      return Object.assign(memory, {
        free() {
          bytesInUse -= lengthBytes
          free()
        },
      })
    },
  }
}
