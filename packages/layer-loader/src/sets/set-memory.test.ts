import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { SetMemory } from './set-memory.js'

/** Returns an allocator, and the number of allocated bytes. */
function counting(): { readonly dma: DmaAllocator; held: number } {
  const counted = {
    held: 0,
    dma: {
      alloc(lengthBytes: number): DmaMemory {
        counted.held += lengthBytes
        return {
          lengthBytes,
          segments: [{ offsetBytes: 0, iova: 0x1000, lengthBytes }],
          iovaAt: (offsetBytes) => 0x1000 + offsetBytes,
          forDevice: () => undefined,
          forHost: () => undefined,
          free: () => {
            counted.held -= lengthBytes
          },
        }
      },
    },
  }
  return counted
}

test('memory that a lost member may still access is never freed; later memory is', () => {
  const counted = counting()
  const memory = new SetMemory(counted.dma)
  memory.alloc(4096).free()
  const before = memory.alloc(8192)
  memory.quarantine()
  const after = memory.alloc(512)
  before.free()
  after.free()
  expect(counted.held).toBe(8192)
  // For the caller, the memory is freed.
  expect(() => before.iovaAt(0)).toThrow('this memory was freed')
})

test('isReachedBy is true for the same allocator or the same address space', () => {
  const space = {}
  const of = (addressSpace?: object): DmaAllocator => ({ ...counting().dma, ...(addressSpace && { addressSpace }) })
  const own = of()
  expect(new SetMemory(own).isReachedBy(own)).toBe(true)
  expect(new SetMemory(own).isReachedBy(of())).toBe(false)
  expect(new SetMemory(of(space)).isReachedBy(of(space))).toBe(true)
  expect(new SetMemory(of(space)).isReachedBy(of({}))).toBe(false)
})
