import { expect, it } from 'vitest'
import { realTimeLayout } from './layout.js'
import { RegionAllocator } from './region-allocator.js'
import { SharedMemory } from './shared-memory.js'
import { profiles } from '../profiles/index.js'

const PAGE = 4096

/** Returns DMA memory of `pages` pages, from the view of the host (dma) and of the controller (memory). */
function region(pages: number, baseIova = 0x1_0000_0000) {
  const { dmaOffsetBytes } = realTimeLayout(profiles.ideal, 1024 * PAGE, baseIova)
  const buffer = new SharedArrayBuffer(dmaOffsetBytes + pages * PAGE)
  const layout = realTimeLayout(profiles.ideal, buffer.byteLength, baseIova)
  const map = new SharedArrayBuffer(pages)
  const firstIova = baseIova + dmaOffsetBytes
  return { dma: new RegionAllocator(buffer, layout, map), memory: new SharedMemory(buffer, layout, map), firstIova }
}

it('allocates zeroed memory, which the controller accesses at its device address', () => {
  const { dma, memory } = region(8)
  const first = dma.alloc(100)
  first.view!.setUint32(8, 0x1234_5678, true)
  expect([...memory.bytes(first.iovaAt(8), 4)!]).toEqual([0x78, 0x56, 0x34, 0x12])
  first.free()
  expect(dma.alloc(100).view!.getUint32(8, true)).toBe(0)
})

it('leaves a page after each allocation that the controller cannot access', () => {
  const { dma, memory } = region(8)
  const first = dma.alloc(PAGE)
  const second = dma.alloc(PAGE)
  expect(second.iovaAt(0) - first.iovaAt(0)).toBe(2 * PAGE)
  expect(memory.has(first.iovaAt(0), PAGE)).toBe(true)
  expect(memory.has(first.iovaAt(0), PAGE + 1)).toBe(false)
})

it('makes freed memory inaccessible, and reuses it', () => {
  const { dma, memory } = region(4)
  const first = dma.alloc(3 * PAGE)
  const iova = first.iovaAt(0)
  expect(() => dma.alloc(PAGE)).toThrow(RangeError)
  first.free()
  expect(memory.has(iova, 1)).toBe(false)
  expect(() => first.free()).toThrow(TypeError)
  // The whole region, without a page after it.
  expect(dma.alloc(4 * PAGE).iovaAt(0)).toBe(iova)
})

it('merges adjacent free ranges, whatever the order of freeing', () => {
  const { dma } = region(9)
  const [a, b, c] = [dma.alloc(PAGE), dma.alloc(PAGE), dma.alloc(PAGE)]
  for (const each of [b, a, c]) each.free()
  expect(dma.alloc(9 * PAGE).lengthBytes).toBe(9 * PAGE)
})

it('aligns device addresses, whatever the start of the memory', () => {
  const { dma } = region(64, 0x1_0000_3000)
  for (const alignBytes of [4096, 8192, 65536]) expect(dma.alloc(1, { alignBytes }).iovaAt(0) % alignBytes).toBe(0)
})

it('gives the controller no access before or after the DMA region', () => {
  const { dma, memory, firstIova } = region(2)
  dma.alloc(2 * PAGE)
  expect(memory.has(firstIova, 2 * PAGE)).toBe(true)
  expect(memory.bytes(firstIova - 1, 1)).toBeUndefined()
  expect(memory.bytes(firstIova + 2 * PAGE, 1)).toBeUndefined()
  expect(memory.bytes(Number.NaN, 1)).toBeUndefined()
})

it('rejects invalid lengths, alignments and kinds of memory', () => {
  const { dma } = region(2)
  expect(() => dma.alloc(0)).toThrow(RangeError)
  expect(() => dma.alloc(1, { alignBytes: 3 })).toThrow(RangeError)
  expect(() => dma.alloc(1, { where: 'gpu' })).toThrow(TypeError)
  expect(() => dma.alloc(1).iovaAt(1)).toThrow(RangeError)
})
