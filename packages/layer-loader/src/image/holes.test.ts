import { expect, test } from 'vitest'
import { holesBetween } from './holes.js'

const START = 2_097_152

test('an image that has nothing leaves all from 2 MiB on, in whole 4096s', () => {
  expect(holesBetween([], START + 10_000)).toEqual([{ offsetBytes: START, lengthBytes: 8192 }])
  expect(holesBetween([], START + 4095)).toEqual([])
  expect(holesBetween([], 512)).toEqual([])
})

test('holes lie before, between and after extents, and begin where the last 4096 bytes of one have ended', () => {
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

test('extents without bytes take no room', () => {
  const extents = [{ offsetBytes: START + 4096, lengthBytes: 0 }]
  expect(holesBetween(extents, START + 8192)).toEqual([{ offsetBytes: START, lengthBytes: 8192 }])
})
