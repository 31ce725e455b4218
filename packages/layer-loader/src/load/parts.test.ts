import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { StoredExtent, StoredPiece } from './extent.js'
import { planLoad } from './load-plan.js'
import { partsOf } from './parts.js'

const BLOCK_BYTES = 512

function tensor(name: string, storeBytes: number, lengthBytes: number): StoredPiece {
  return { name, dtype: 'U8', shape: [lengthBytes], lengthBytes, runs: [{ storeBytes, lengthBytes }] }
}

/** An extent of tensors in consecutive blocks. */
function layerOf(...lengths: number[]): StoredExtent {
  let endBytes = 0
  const pieces = lengths.map((lengthBytes, index) => {
    const storeBytes = endBytes
    endBytes += Math.ceil(lengthBytes / BLOCK_BYTES) * BLOCK_BYTES
    return tensor(`t${index}`, storeBytes, lengthBytes)
  })
  return { name: 'layer 3', pieces, checks: [] }
}

const memoryOf = (extent: StoredExtent, alignBytes = 32) =>
  planLoad(extent, { blockBytes: BLOCK_BYTES, alignBytes, check: () => true }).memoryBytes

const namesOf = (parts: readonly StoredExtent[]) => parts.map(({ pieces }) => pieces.map(({ name }) => name).join(' '))

test('an extent that fits is returned unchanged', () => {
  const extent = layerOf(512, 1024)
  expect(partsOf(extent, 1536, memoryOf)).toEqual([extent])
  expect(partsOf(extent, 1536, memoryOf)[0]).toBe(extent)
})

test('a part ends before the tensor that would exceed it, and states its position', () => {
  const parts = partsOf(layerOf(512, 1024, 512, 512, 1536), 1536, memoryOf)
  expect(namesOf(parts)).toEqual(['t0 t1', 't2 t3', 't4'])
  expect(parts.map(({ name }) => name)).toEqual(['layer 3 part 1 of 3', 'layer 3 part 2 of 3', 'layer 3 part 3 of 3'])
  expect(parts.map(({ part }) => part)).toEqual([0, 1, 2].map((index) => ({ extent: 'layer 3', index, count: 3 })))
  // One byte less moves each boundary.
  expect(namesOf(partsOf(layerOf(512, 1024, 512, 512, 512), 1535, memoryOf))).toEqual(['t0', 't1', 't2 t3', 't4'])
})

test('partial blocks and check units around a part count as its memory', () => {
  // t1 shares its first block with t0, and its check unit of 2048 bytes with t0 and t2.
  const pieces = [tensor('t0', 0, 500), tensor('t1', 500, 500), tensor('t2', 1024, 1024)]
  const shared: StoredExtent = { name: 'layer 3', pieces, checks: [] }
  expect(namesOf(partsOf(shared, 1024, memoryOf))).toEqual(['t0 t1', 't2'])
  const checks = [{ storeBytes: 0, lengthBytes: 2048, crc32: 0 }]
  expect(() => partsOf({ ...shared, checks, pieces: [...pieces, tensor('t3', 2048, 1)] }, 2047, memoryOf)).toThrow(
    'its tensor "t0" has 500',
  )
  const parts = partsOf({ ...shared, checks, pieces: [...pieces, tensor('t3', 2048, 1)] }, 2048, memoryOf)
  expect(namesOf(parts)).toEqual(['t0 t1 t2', 't3'])
  // A part keeps the check units of its layer, so that a chunk has the same number in an error.
  expect(parts.map((part) => part.checks)).toEqual([checks, checks])
})

test('alignment in memory counts as memory of a part', () => {
  const pieces = [tensor('t0', 0, 8), tensor('t1', 8, 496), tensor('t2', 504, 8)]
  const extent: StoredExtent = { name: 'layer 3', pieces, checks: [] }
  expect(namesOf(partsOf(extent, 512, (part) => memoryOf(part, 1)))).toEqual(['t0 t1 t2'])
  // t1 moves to byte 32, and t2 to byte 544.
  expect(namesOf(partsOf(extent, 552, memoryOf))).toEqual(['t0 t1 t2'])
  expect(namesOf(partsOf(extent, 551, memoryOf))).toEqual(['t0 t1', 't2'])
})

test('padding of a whole layer is not part of its parts', () => {
  const { name, pieces, checks } = layerOf(512, 512)
  const apart = [pieces[0]!, tensor('t1', 1 << 20, 512)]
  const fullRange = { storeBytes: 0, lengthBytes: 2 << 20 }
  const parts = partsOf({ name, pieces: apart, checks, fullRange }, 512, memoryOf)
  expect(namesOf(parts)).toEqual(['t0', 't1'])
  expect(parts.map(({ fullRange }) => fullRange)).toEqual([undefined, undefined])
})

test('a layer of which only the padding exceeds a part stays in one piece, without the padding', () => {
  const { name, pieces, checks } = layerOf(512, 512)
  const fullRange = { storeBytes: 0, lengthBytes: 4096 }
  expect(partsOf({ name, pieces, checks, fullRange }, 2048, memoryOf)).toEqual([{ name, pieces, checks }])
})

test('two tensors with the same bytes are complete in different parts', () => {
  const pieces = [tensor('embedding', 0, 1024), tensor('output', 0, 1024)]
  const parts = partsOf({ name: 'layer 3', pieces, checks: [] }, 1024, memoryOf)
  expect(namesOf(parts)).toEqual(['embedding', 'output'])
  expect(parts[1]!.pieces[0]!.runs).toEqual(pieces[0]!.runs)
})

test('slices of experts are kept complete, and empty tensors are kept', () => {
  const pieces = [tensor('up[7]', 100, 900), tensor('bias', 1000, 0), tensor('down[7]', 4096, 900)]
  const parts = partsOf({ name: 'layer 3 expert 7', pieces, checks: [] }, 1056, memoryOf)
  expect(namesOf(parts)).toEqual(['up[7] bias', 'down[7]'])
  expect(parts[0]!.name).toBe('layer 3 expert 7 part 1 of 2')
})

test('a tensor that exceeds a part is rejected with its length, its memory and the length that would fit', () => {
  const thrown = (() => {
    try {
      return partsOf(layerOf(512, 5000, 6000, 100), 2048, memoryOf)
    } catch (error) {
      return error
    }
  })()
  expect(thrown).toMatchObject({
    code: 'ERR_GPUNVME_TENSOR_TOO_LONG',
    category: 'infeasible',
    headline: 'Cannot split "layer 3" into parts of 2048 bytes: its tensor "t1" has 5000',
    facts: ['with alignment, complete blocks and check units, it takes 5120 bytes of memory', '2 of 4 tensors fit'],
    next: 'allow parts of 6144 bytes or more; or, for stacked experts, request them one by one: model.expert(layer, n)',
  })
})

test('parts hold all tensors in order, fit, and could not hold one tensor more', () => {
  const lengths = fc.array(fc.nat(3000), { minLength: 1, maxLength: 40 })
  const options = [lengths, fc.nat(2000), fc.integer({ min: 512, max: 12_000 }), fc.constantFrom(1, 32, 4096)] as const
  fc.assert(
    fc.property(...options, (lengths, unitBytes, maxBytes, alignBytes) => {
      const { name, pieces } = layerOf(...lengths)
      const checks = Array.from({ length: unitBytes < 500 ? 0 : Math.ceil(130_000 / unitBytes) }, (_, index) => {
        return { storeBytes: index * unitBytes, lengthBytes: unitBytes, crc32: 0 }
      })
      const extent = { name, pieces, checks }
      const measure = (part: StoredExtent) => memoryOf(part, alignBytes)
      const isLong = (piece: StoredPiece) => measure({ ...extent, pieces: [piece] }) > maxBytes
      if (measure(extent) > maxBytes && pieces.some(isLong)) {
        expect(() => partsOf(extent, maxBytes, measure)).toThrow('Cannot split')
        return
      }
      const parts = partsOf(extent, maxBytes, measure)
      expect(parts.flatMap((part) => part.pieces)).toEqual(pieces)
      for (const [index, part] of parts.entries()) {
        expect(measure(part)).toBeLessThanOrEqual(maxBytes)
        const next = parts[index + 1]?.pieces[0]
        if (next !== undefined) expect(measure({ ...part, pieces: [...part.pieces, next] })).toBeGreaterThan(maxBytes)
      }
    }),
  )
})
