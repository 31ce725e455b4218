import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { DmaMemory, DmaSegment } from '@gpunvme/nvme-spec/transport'
import { DmaArena, type DmaSource } from './dma-arena.js'

const PAGE = 0x1000

/** Source of chunks with scattered pages, as in physical memory; counts live chunks. */
class ScatteredPages implements DmaSource {
  readonly granuleBytes = PAGE * 2
  live = 0
  private next = 0x10

  chunk(lengthBytes: number) {
    this.live++
    const segments: { offsetBytes: number; iova: number; lengthBytes: number }[] = []
    for (let offsetBytes = 0; offsetBytes < lengthBytes; offsetBytes += PAGE) {
      // Every third page is not adjacent to the one before it.
      this.next += offsetBytes % (3 * PAGE) === 2 * PAGE ? 7 : 1
      const iova = this.next * PAGE
      const last = segments.at(-1)
      if (last !== undefined && last.iova + last.lengthBytes === iova) last.lengthBytes += PAGE
      else segments.push({ offsetBytes, iova, lengthBytes: PAGE })
    }
    this.next += 3
    const release = () => {
      this.live--
    }
    return { buffer: new ArrayBuffer(lengthBytes), lengthBytes, segments, release }
  }
}

/** Returns the device address of each byte. */
function bytesOf({ segments }: Pick<DmaMemory, 'segments'>): number[] {
  return segments.flatMap(({ iova, lengthBytes }: DmaSegment) =>
    Array.from({ length: lengthBytes }, (_, byte) => iova + byte),
  )
}

test('allocations are aligned, disjoint and zeroed over any sequence of allocations and frees', () => {
  const step = fc.record({
    lengthBytes: fc.integer({ min: 1, max: 3 * PAGE }),
    align: fc.integer({ min: 2, max: 13 }),
    contiguous: fc.boolean(),
    free: fc.option(fc.nat(8)),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const source = new ScatteredPages()
      const arena = new DmaArena(source)
      const live: DmaMemory[] = []
      const owned = new Set<number>()
      for (const { lengthBytes, align, contiguous, free } of steps) {
        if (free !== null) {
          const [memory] = live.splice(free, 1)
          if (memory === undefined) continue
          for (const byte of bytesOf(memory)) owned.delete(byte)
          memory.free()
          continue
        }
        let memory: DmaMemory
        try {
          memory = arena.alloc(lengthBytes, { alignBytes: 2 ** align, contiguous })
        } catch (error) {
          // A chunk may have no run that is long enough or aligned.
          expect(error).toBeInstanceOf(RangeError)
          continue
        }
        const addresses = bytesOf(memory)
        expect(addresses.length).toBe(lengthBytes)
        expect(memory.iovaAt(0) % 2 ** align).toBe(0)
        expect(memory.iovaAt(lengthBytes - 1)).toBe(addresses.at(-1))
        if (contiguous) expect(memory.segments.length).toBe(1)
        expect(addresses.some((byte) => owned.has(byte))).toBe(false)
        for (const byte of addresses) owned.add(byte)
        const view = new Uint8Array(memory.view!.buffer as ArrayBuffer, memory.view!.byteOffset, lengthBytes)
        expect(view.every((byte) => byte === 0)).toBe(true)
        view.fill(0xa5)
        live.push(memory)
      }
      for (const memory of live) memory.free()
      expect(source.live).toBeLessThanOrEqual(1)
      arena.close()
      expect(source.live).toBe(0)
    }),
    { numRuns: 100 },
  )
})

test('rejects invalid requests by name', () => {
  const arena = new DmaArena(new ScatteredPages())
  for (const lengthBytes of [0, -1, 1.5, NaN]) expect(() => arena.alloc(lengthBytes)).toThrow(/^lengthBytes: expected/)
  for (const alignBytes of [0, 3, -4096]) expect(() => arena.alloc(1, { alignBytes })).toThrow(/^alignBytes: expected/)
  expect(() => arena.alloc(1, { where: 'gpu' })).toThrow(TypeError)
})

test('releases a chunk that cannot serve its request', () => {
  const source = new ScatteredPages()
  const arena = new DmaArena(source)
  expect(() => arena.alloc(8 * PAGE, { contiguous: true })).toThrow('the longest run is')
  expect(source.live).toBe(0)
})

test('close releases all chunks even if one release fails, and throws that error', () => {
  const released: number[] = []
  const source: DmaSource = {
    granuleBytes: PAGE,
    chunk: (lengthBytes) => ({
      buffer: new ArrayBuffer(lengthBytes),
      lengthBytes,
      segments: [{ offsetBytes: 0, iova: PAGE, lengthBytes }],
      release: () => {
        released.push(lengthBytes)
        if (released.length === 1) throw new Error('the first one')
      },
    }),
  }
  const arena = new DmaArena(source)
  const first = arena.alloc(PAGE)
  arena.alloc(2 * PAGE)
  expect(() => {
    arena.close()
  }).toThrow('the first one')
  expect(released).toEqual([PAGE, 2 * PAGE])
  // Freeing after close has no effect.
  first.free()
  expect(released.length).toBe(2)
})
