import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { StoredExtent, StoredPiece } from './extent.js'
import { planLoad } from './load-plan.js'

const bytesOf = (lengthBytes: number, storeBytes: number, name = `at ${storeBytes}`): StoredPiece => ({
  name,
  dtype: 'U8',
  shape: [lengthBytes],
  lengthBytes,
  runs: [{ storeBytes, lengthBytes }],
})
const all = { blockBytes: 512, alignBytes: 32, check: () => true }

describe('transfers of planLoad', () => {
  test('cover a piece that starts and ends inside a block with complete blocks', () => {
    expect(planLoad({ name: 'x', pieces: [bytesOf(1000, 1056)], checks: [] }, all)).toEqual({
      transfers: [{ offsetBytes: 1024, lengthBytes: 1536, memoryBytes: 0 }],
      pieces: [{ name: 'at 1056', dtype: 'U8', shape: [1000], offsetBytes: 32, lengthBytes: 1000 }],
      moves: [],
      units: [],
      memoryBytes: 1536,
      checksAll: false,
      readBytes: 1536,
      requestedBytes: 1000,
    })
  })

  test('merge pieces with small gaps', () => {
    const pieces = [bytesOf(100, 0), bytesOf(100, 128), bytesOf(512, 512 + 32 * 1024)]
    expect(planLoad({ name: 'x', pieces, checks: [] }, all).transfers).toEqual([
      { offsetBytes: 0, lengthBytes: 33_792, memoryBytes: 0 },
    ])
  })

  test('planLoad does not merge pieces with large gaps, and places them one after the other', () => {
    const pieces = [bytesOf(512, 0), bytesOf(512, 1024 + 32 * 1024)]
    const plan = planLoad({ name: 'x', pieces, checks: [] }, all)
    expect(plan.transfers).toEqual([
      { offsetBytes: 0, lengthBytes: 512, memoryBytes: 0 },
      { offsetBytes: 33_792, lengthBytes: 512, memoryBytes: 512 },
    ])
    expect(plan.pieces.map(({ offsetBytes }) => offsetBytes)).toEqual([0, 512])
  })
})

describe('places in memory of planLoad', () => {
  test('unaligned pieces are moved up to aligned offsets, the last piece first', () => {
    const plan = planLoad({ name: 'x', pieces: [bytesOf(64, 8), bytesOf(64, 72), bytesOf(64, 192)], checks: [] }, all)
    expect(plan.pieces.map(({ offsetBytes }) => offsetBytes)).toEqual([32, 96, 192])
    expect(plan.moves).toEqual([
      { fromBytes: 72, toBytes: 96, lengthBytes: 64 },
      { fromBytes: 8, toBytes: 32, lengthBytes: 64 },
    ])
    expect(plan.memoryBytes).toBe(512)
  })

  test('a fragmented piece of complete blocks is contiguous in memory without moves', () => {
    const runs = [
      { storeBytes: 81_920, lengthBytes: 4096 },
      { storeBytes: 4096, lengthBytes: 4096 },
    ]
    const plan = planLoad({ name: 'x', pieces: [{ ...bytesOf(8192, 0), runs }], checks: [] }, all)
    expect(plan.moves).toEqual([])
    expect(plan.pieces[0]).toMatchObject({ offsetBytes: 0, lengthBytes: 8192 })
  })

  test('a fragmented piece of partial blocks is moved together', () => {
    const runs = [
      { storeBytes: 81_920, lengthBytes: 1000 },
      { storeBytes: 4096, lengthBytes: 1000 },
    ]
    const plan = planLoad({ name: 'x', pieces: [{ ...bytesOf(2000, 0), runs }], checks: [] }, all)
    expect(plan.moves).toEqual([
      { fromBytes: 0, toBytes: 2048, lengthBytes: 1000 },
      { fromBytes: 1024, toBytes: 3048, lengthBytes: 1000 },
    ])
  })

  test.each([0, 3, -32, 1.5])('an alignment of %d is rejected', (alignBytes) => {
    expect(() => planLoad({ name: 'x', pieces: [], checks: [] }, { ...all, alignBytes })).toThrow(RangeError)
  })
})

describe('checks of planLoad', () => {
  const chunk = (index: number) => ({ storeBytes: index * 4096, lengthBytes: 4096, crc32: index })
  const extent: StoredExtent = { name: 'x', pieces: [bytesOf(100, 5000)], checks: [chunk(0), chunk(1), chunk(2)] }

  test('read complete chunks around the pieces, and no other chunks', () => {
    const plan = planLoad(extent, all)
    expect(plan.transfers).toEqual([{ offsetBytes: 4096, lengthBytes: 4096, memoryBytes: 0 }])
    expect(plan).toMatchObject({ units: [{ ...chunk(1), memoryBytes: 0 }], checksAll: true })
  })

  test('read no additional blocks when they are off', () => {
    const plan = planLoad(extent, { ...all, check: () => false })
    expect(plan.transfers).toEqual([{ offsetBytes: 4608, lengthBytes: 512, memoryBytes: 0 }])
    expect(plan).toMatchObject({ units: [], checksAll: false })
  })

  test('checksAll is false if a part of a piece has no check', () => {
    expect(planLoad({ ...extent, pieces: [bytesOf(8192, 8192)] }, all)).toMatchObject({ checksAll: false })
  })
})

test('planLoad places every byte of random extents correctly and without overlap', () => {
  const run = fc.record({ storeBytes: fc.nat(200_000), lengthBytes: fc.integer({ min: 1, max: 20_000 }) })
  const piece = fc.array(run, { minLength: 1, maxLength: 3 })
  const property = (pieces: { storeBytes: number; lengthBytes: number }[][], withChecks: boolean, alignLog: number) => {
    const extent: StoredExtent = {
      name: 'any',
      pieces: pieces.map((runs, index) => {
        const lengthBytes = runs.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
        return { name: `${index}`, dtype: 'U8', shape: [lengthBytes], lengthBytes, runs }
      }),
      checks: withChecks
        ? Array.from({ length: 60 }, (_, index) => ({ storeBytes: index * 4096, lengthBytes: 4096, crc32: 0 }))
        : [],
    }
    const plan = planLoad(extent, { blockBytes: 512, alignBytes: 2 ** alignLog, check: () => true })
    // Each element is the offset of the byte of the store that is read to it.
    const memory = new Int32Array(plan.memoryBytes).fill(-1)
    for (const { offsetBytes, lengthBytes, memoryBytes } of plan.transfers) {
      expect([offsetBytes % 512, lengthBytes % 512]).toEqual([0, 0])
      for (let at = 0; at < lengthBytes; at++) memory[memoryBytes + at] = offsetBytes + at
    }
    // Checks apply to memory as read, before the moves.
    for (const { storeBytes, lengthBytes, memoryBytes } of plan.units) {
      expect([memory[memoryBytes], memory[memoryBytes + lengthBytes - 1]]).toEqual([
        storeBytes,
        storeBytes + lengthBytes - 1,
      ])
    }
    for (const { fromBytes, toBytes, lengthBytes } of plan.moves) {
      memory.copyWithin(toBytes, fromBytes, fromBytes + lengthBytes)
    }
    for (const [index, { offsetBytes, lengthBytes }] of plan.pieces.entries()) {
      expect(offsetBytes % 2 ** alignLog).toBe(0)
      const wanted = pieces[index]!.flatMap((run) =>
        Array.from({ length: run.lengthBytes }, (_, at) => run.storeBytes + at),
      )
      expect(Array.from(memory.subarray(offsetBytes, offsetBytes + lengthBytes))).toEqual(wanted)
    }
    expect(plan.checksAll).toBe(withChecks)
  }
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 1, maxLength: 5 }),
      fc.boolean(),
      fc.integer({ min: 0, max: 12 }),
      property,
    ),
    {
      numRuns: 100,
    },
  )
}, 60_000)
