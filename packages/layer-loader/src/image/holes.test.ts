import { expect, test } from 'vitest'
import { holesBetween } from './holes.js'

const START = 2_097_152

test('an empty image has one hole from 2 MiB on, a multiple of 4096 bytes long', () => {
  expect(holesBetween([], START + 10_000)).toEqual([{ offsetBytes: START, lengthBytes: 8192 }])
  expect(holesBetween([], START + 4095)).toEqual([])
  expect(holesBetween([], 512)).toEqual([])
})

test('holes are before, between and after extents rounded up to 4096 bytes', () => {
  const extents = [
    { offsetBytes: START + 16_384, lengthBytes: 1 },
    { offsetBytes: START + 4096, lengthBytes: 4097 },
    { offsetBytes: START + 24_576, lengthBytes: 4096 },
  ]
  expect(holesBetween(extents, START + 32_768)).toEqual([
    { offsetBytes: START, lengthBytes: 4096 },
    { offsetBytes: START + 12_288, lengthBytes: 4096 },
    { offsetBytes: START + 20_480, lengthBytes: 4096 },
    { offsetBytes: START + 28_672, lengthBytes: 4096 },
  ])
})

test('empty extents take no space', () => {
  const extents = [{ offsetBytes: START + 4096, lengthBytes: 0 }]
  expect(holesBetween(extents, START + 8192)).toEqual([{ offsetBytes: START, lengthBytes: 8192 }])
})
