import { describe, expect, test } from 'vitest'
import { checkGpuRange, segmentsFault, sliceSegments } from './segments.js'

const PAGE = 4096
const at = (offsetBytes: number, iova: number, lengthBytes = PAGE) => ({ offsetBytes, iova, lengthBytes })

describe('segments of a memory', () => {
  test('are accepted if every byte has its own address', () => {
    expect(segmentsFault([at(0, 0x9000), at(PAGE, 0x1000, 2 * PAGE)], 3 * PAGE)).toBeUndefined()
  })

  test.each([
    [
      'two places at one address',
      [at(0, 0x1000, 2 * PAGE), at(2 * PAGE, 0x2000)],
      3,
      'two places of the memory have the address 0x2000',
    ],
    ['a byte without an address', [at(0, 0x1000), at(2 * PAGE, 0x5000)], 3, 'byte 4096 of the memory has no address'],
    ['an end without addresses', [at(0, 0x1000)], 2, 'only 4096 of 8192 bytes have addresses'],
    ['a part of a page', [at(0, 0x1000, 512)], 1, 'not whole pages'],
    ['an address inside a page', [at(0, 0x1800)], 1, 'not whole pages'],
    ['an address above 2^53', [at(0, 2 ** 53)], 1, 'invalid address 9007199254740992'],
  ])('are rejected with %s', (_, segments, pages, fault) => {
    expect(segmentsFault(segments, pages * PAGE)).toContain(fault)
  })
})

test('a slice has offsets from its own start, and the requested length', () => {
  const segments = [at(0, 0x1000, 2 * PAGE), at(2 * PAGE, 0x9000)]
  expect(sliceSegments(segments, PAGE, 2 * PAGE)).toEqual([at(0, 0x2000), at(PAGE, 0x9000)])
  expect(sliceSegments(segments, 2 * PAGE, PAGE)).toEqual([at(0, 0x9000)])
})

test('a range of GPU memory must consist of whole pages above address 0', () => {
  expect(() => checkGpuRange(0x1000n, PAGE)).not.toThrow()
  for (const [pointer, lengthBytes] of [
    [0n, PAGE],
    [0x1001n, PAGE],
    [0x1000n, 0],
    [0x1000n, 100],
  ] as const)
    expect(() => checkGpuRange(pointer, lengthBytes)).toThrow(RangeError)
})
