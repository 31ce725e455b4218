import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { SetMemory } from './set-memory.js'

/** An allocator that says how much of what it gave it has not got back. */
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

test('memory that a lost member was given is not given back; what is allocated afterwards is', () => {
  const counted = counting()
  const memory = new SetMemory(counted.dma)
  memory.alloc(4096).free()
  const before = memory.alloc(8192)
  memory.withhold()
  const after = memory.alloc(512)
  before.free()
  after.free()
  expect(counted.held).toBe(8192)
  // Freed is freed for whoever had it.
  expect(() => before.iovaAt(0)).toThrow('this memory was freed')
})

test('a controller reaches it whose allocator is the same, or of the same address space', () => {
  const space = {}
  const of = (addressSpace?: object): DmaAllocator => ({ ...counting().dma, ...(addressSpace && { addressSpace }) })
  const own = of()
  expect(new SetMemory(own).isReachedBy(own)).toBe(true)
  expect(new SetMemory(own).isReachedBy(of())).toBe(false)
  expect(new SetMemory(of(space)).isReachedBy(of(space))).toBe(true)
  expect(new SetMemory(of(space)).isReachedBy(of({}))).toBe(false)
})
