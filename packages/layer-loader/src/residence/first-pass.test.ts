import { expect, test } from 'vitest'
import { firstPassNs } from './first-pass.js'
import type { Residence } from './spread.js'

/** Layers of 1 byte: 10 ns to read, 4 ns to copy, 1 ns to compute. */
const input = { tier: 1, cost: { readNs: () => 10, copyNs: () => 4 }, readNs: () => 10, computeNs: 1 } as const

const layersIn = (...places: Residence[]) =>
  places.map((residence, index) => ({ name: `layer ${index}`, lengthBytes: 1, residence }))

test('a layer on the drive is read, copied, then computed', () => {
  expect(firstPassNs(layersIn('nvme'), input)).toBe(10 + 4 + 1)
  expect(firstPassNs(layersIn('nvme', 'nvme'), input)).toBe(10 + 10 + 4 + 1)
})

test('in tier 2 a layer on the drive is not copied', () => {
  expect(firstPassNs(layersIn('nvme'), { ...input, tier: 2 })).toBe(10 + 1)
})

test('copies from host memory overlap with reads', () => {
  expect(firstPassNs(layersIn('ram', 'nvme'), input)).toBe(10 + 4 + 1)
  expect(firstPassNs(layersIn('ram', 'ram', 'vram'), input)).toBe(4 + 4 + 1 + 1)
})

test('a read waits for a slot', () => {
  // Tier 2 with two slots and 20 ns to compute: the third read starts when the first layer has been computed, at 30.
  const slow = { ...input, tier: 2, computeNs: 20 } as const
  expect(firstPassNs(layersIn('nvme', 'nvme', 'nvme'), slow)).toBe(10 + 20 + 20 + 20)
  expect(firstPassNs(layersIn('nvme', 'nvme', 'nvme'), { ...input, slots: { drive: 2, copies: 2 } })).toBe(30 + 4 + 1)
})

test('checks that are slower than reads delay the copies', () => {
  expect(firstPassNs(layersIn('nvme', 'nvme'), { ...input, checkNs: () => 30 })).toBe(30 + 30 + 4 + 1)
})
