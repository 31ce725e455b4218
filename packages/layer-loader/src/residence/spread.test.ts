import fc from 'fast-check'
import { expect, test } from 'vitest'
import { spread } from './spread.js'

const RUNS = { numRuns: 300 }

const lengths = fc.array(fc.integer({ min: 1, max: 1000 }), { minLength: 1, maxLength: 60 })
const room = fc.integer({ min: 0, max: 40_000 })

test('equal layers with equal shares alternate', () => {
  expect(spread(new Array<number>(8).fill(10), { vramBytes: 0, ramBytes: 40, nvme: true })).toEqual([
    'ram',
    'nvme',
    'ram',
    'nvme',
    'ram',
    'nvme',
    'ram',
    'nvme',
  ])
})

test('with 20, 30 and 30 of 80 layers, no two adjacent layers are both in host memory or on the drive', () => {
  const places = spread(new Array<number>(80).fill(1), { vramBytes: 20, ramBytes: 30, nvme: true })!
  expect(['vram', 'ram', 'nvme'].map((place) => places.filter((each) => each === place).length)).toEqual([20, 30, 30])
  for (const place of ['ram', 'nvme']) {
    expect(places.some((each, index) => each === place && places[index + 1] === place)).toBe(false)
  }
})

test('no place exceeds its room, and no layer on the drive would fit into memory', () => {
  fc.assert(
    fc.property(lengths, room, room, (bytes, vramBytes, ramBytes) => {
      const places = spread(bytes, { vramBytes, ramBytes, nvme: true })!
      expect(places).toHaveLength(bytes.length)
      const given = { vram: 0, ram: 0, nvme: 0 }
      for (const [index, place] of places.entries()) given[place] += bytes[index]!
      expect(given.vram).toBeLessThanOrEqual(vramBytes)
      expect(given.ram).toBeLessThanOrEqual(ramBytes)
      for (const [index, place] of places.entries()) {
        if (place === 'nvme') expect(given.ram + bytes[index]!).toBeGreaterThan(ramBytes)
        if (place === 'nvme') expect(given.vram + bytes[index]!).toBeGreaterThan(vramBytes)
      }
    }),
    RUNS,
  )
})

test('for equal layers, each place is within 1.5 layers of its share at any point', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 200 }), fc.nat(200), fc.nat(200), (layers, vram, ram) => {
      const places = spread(new Array<number>(layers).fill(1), { vramBytes: vram, ramBytes: ram, nvme: true })!
      for (const place of ['vram', 'ram', 'nvme'] as const) {
        const all = places.filter((each) => each === place).length
        let passed = 0
        for (const [index, each] of places.entries()) {
          if (each === place) passed++
          expect(Math.abs(passed - (all * (index + 1)) / layers)).toBeLessThanOrEqual(1.5)
        }
      }
    }),
    RUNS,
  )
})

test('spread returns undefined without the drive if the layers do not fit into memory', () => {
  expect(spread([5, 5, 5], { vramBytes: 5, ramBytes: 5, nvme: false })).toBeUndefined()
  expect(spread([5, 5], { vramBytes: 5, ramBytes: 5, nvme: false })).toEqual(['vram', 'ram'])
})
