import { expect, it } from 'vitest'
import { HostMemory } from './host-memory.js'

const MIB = 1 << 20
const memory = (options: Partial<ConstructorParameters<typeof HostMemory>[0]> = {}) =>
  new HostMemory({ limitBytes: 16 * MIB, fragmented: false, seed: 1, ...options })

it('allocates zeroed memory at page-aligned addresses above 4 GiB', () => {
  const dma = memory()
  for (const lengthBytes of [1, 4096, 5000]) {
    const { view, segments } = dma.alloc(lengthBytes)
    expect(view!.byteLength).toBe(lengthBytes)
    expect(segments).toHaveLength(1)
    expect(segments[0]!.iova % 4096).toBe(0)
    expect(segments[0]!.iova).toBeGreaterThanOrEqual(2 ** 32)
  }
})

it('aligns the first byte as requested', () => {
  const dma = memory()
  dma.alloc(4096)
  for (const alignBytes of [8192, 65_536, MIB]) expect(dma.alloc(10, { alignBytes }).iovaAt(0) % alignBytes).toBe(0)
})

it('leaves a page without memory after every allocation', () => {
  const dma = memory()
  const [first, second] = [dma.alloc(4096), dma.alloc(4096)]
  expect(second.iovaAt(0) - first.iovaAt(0)).toBeGreaterThanOrEqual(8192)
  expect(dma.has(first.iovaAt(0), 4097)).toBe(false)
  expect(dma.has(first.iovaAt(0) - 1, 1)).toBe(false)
})

it('fragmented: segments cover the memory without gaps, in offset order, and are scattered', () => {
  const dma = memory({ fragmented: true })
  const { segments, lengthBytes } = dma.alloc(MIB + 100)
  let at = 0
  for (const segment of segments) {
    expect(segment.offsetBytes).toBe(at)
    expect(segment.iova % 4096).toBe(0)
    at += segment.lengthBytes
  }
  expect(at).toBe(lengthBytes)
  expect(segments.length).toBeGreaterThan(64)
  const iovas = segments.map(({ iova }) => iova)
  expect(iovas).not.toEqual(iovas.toSorted((a, b) => a - b))
})

it('fragmented: segments begin and end at multiples of a larger alignment', () => {
  const { segments } = memory({ fragmented: true }).alloc(MIB + 100, { alignBytes: 65_536 })
  expect(segments.length).toBeGreaterThan(4)
  expect(segments.map(({ iova }) => iova % 65_536)).toEqual(segments.map(() => 0))
  expect(segments.slice(0, -1).map(({ lengthBytes }) => lengthBytes % 65_536)).toEqual(segments.slice(1).map(() => 0))
})

it('fragmented: iovaAt returns the address of each byte of the view', () => {
  const dma = memory({ fragmented: true })
  const data = dma.alloc(MIB)
  for (let offset = 0; offset < MIB; offset += 1021) {
    data.view!.setUint8(offset, offset & 0xff)
    expect(dma.bytes(data.iovaAt(offset), 1)![0]).toBe(offset & 0xff)
  }
})

it('contiguous memory is one segment, fragmented or not', () => {
  expect(memory({ fragmented: true }).alloc(MIB, { contiguous: true }).segments).toHaveLength(1)
})

it('freed memory is inaccessible, its bytes are free, and its addresses are not reused', () => {
  const dma = memory({ limitBytes: 8192 })
  const first = dma.alloc(8192)
  const iova = first.iovaAt(0)
  expect(dma.has(iova, 8192)).toBe(true)
  first.free()
  expect(dma.has(iova, 1)).toBe(false)
  expect(dma.alloc(8192).iovaAt(0)).toBeGreaterThan(iova + 8192)
  expect(() => first.free()).toThrow(/already freed/)
})

it('rejects an allocation it cannot satisfy, and reports requested and available bytes', () => {
  const dma = memory({ limitBytes: 8192 })
  dma.alloc(4096)
  expect(() => dma.alloc(4097)).toThrow(
    /4097 bytes requested, 4096 of 8192 free; raise simulate\({ hostMemoryBytes }\)/,
  )
  expect(() => dma.alloc(0)).toThrow(RangeError)
  expect(() => dma.alloc(1, { alignBytes: 3 })).toThrow(/power of two/)
  expect(() => dma.alloc(1, { where: 'gpu' })).toThrow(/only host memory/)
  expect(() => dma.alloc('4096' as never)).toThrow(
    new TypeError("alloc: expected a length of at least 1 byte, got '4096'"),
  )
  expect(() => dma.alloc(1, { contiguos: true } as never)).toThrow(
    "alloc: unknown 'contiguos'; known are alignBytes, contiguous, where",
  )
  expect(() => dma.alloc(1, { contiguous: 1 } as never)).toThrow('alloc.contiguous: expected true or false, got 1')
  expect(() => dma.alloc(4096).iovaAt(4096)).toThrow(/has 4096 bytes/)
})
