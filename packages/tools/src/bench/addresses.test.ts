import { describe, expect, test } from 'vitest'
import { Addresses } from './addresses.js'
import type { Shape } from './shape.js'

const shape = (changes: Partial<Shape>): Shape => ({
  rw: 'read',
  pattern: 'sequential',
  blockBytes: 4096,
  depth: 1,
  jobs: 1,
  ...changes,
})
const take = (addresses: Addresses, count: number, job = 0) => Array.from({ length: count }, () => addresses.take(job))

describe('sequential commands', () => {
  test('sequential commands are contiguous from the start of the span, and wrap at its end', () => {
    const addresses = new Addresses(shape({}), { firstBlock: 1000, blocks: 30 }, 512, 1)
    // 4 KiB are 8 blocks; three fit into 30.
    expect(take(addresses, 7)).toEqual([1000, 1008, 1016, 1000, 1008, 1016, 1000])
  })

  test('sequential commands of each job stay in a separate part of the span', () => {
    const addresses = new Addresses(shape({ jobs: 2 }), { firstBlock: 0, blocks: 32 }, 512, 1)
    expect(take(addresses, 3, 0)).toEqual([0, 8, 0])
    expect(take(addresses, 3, 1)).toEqual([16, 24, 16])
  })

  test('require room for one command of each job', () => {
    expect(() => new Addresses(shape({ jobs: 4 }), { firstBlock: 0, blocks: 24 }, 512, 1)).toThrow(RangeError)
  })
})

describe('random commands', () => {
  const random = (seed: number, blocks = 8 * 100) =>
    new Addresses(shape({ pattern: 'random' }), { firstBlock: 4096, blocks }, 512, seed)

  test('random commands are aligned and uniformly distributed over the complete span', () => {
    const uses = new Map<number, number>()
    for (const slba of take(random(1), 100_000)) uses.set(slba, (uses.get(slba) ?? 0) + 1)
    expect([...uses.keys()].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, i) => 4096 + 8 * i))
    // 1000 each with a standard deviation of 31.5: six of them.
    for (const count of uses.values()) expect(Math.abs(count - 1000)).toBeLessThan(190)
  })

  test('random commands are reproducible for a seed, and differ between seeds', () => {
    expect(take(random(7), 20)).toEqual(take(random(7), 20))
    expect(take(random(7), 20)).not.toEqual(take(random(8), 20))
  })

  test('reach block numbers above 2^32', () => {
    expect(Math.max(...take(random(1, 2 ** 38), 100))).toBeGreaterThan(2 ** 37)
  })
})
