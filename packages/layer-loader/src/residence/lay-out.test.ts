import { expect, test } from 'vitest'
import { layOut, memoryBytesOf } from './lay-out.js'

test.each([
  [0, 4096],
  [1, 4096],
  [4096, 4096],
  [4097, 8192],
])('a layer of %i bytes takes complete pages: %i bytes', (lengthBytes, expected) => {
  expect(memoryBytesOf({ lengthBytes })).toBe(expected)
})

test('only tier 1 places drive slots in host memory; copy slots are always in GPU memory', () => {
  const lane = { ram: true, nvme: true }
  expect(layOut(100, 10, { tier: 1 }, lane)).toMatchObject({ copies: 4, drive: 2, vramBytes: 400, ramBytes: 20 })
  expect(layOut(100, 10, { tier: 2 }, lane)).toMatchObject({ copies: 2, drive: 2, vramBytes: 220, ramBytes: 0 })
})
