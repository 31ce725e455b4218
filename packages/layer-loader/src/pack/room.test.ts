import { describe, expect, test } from 'vitest'
import { findRoom, NamespaceTooSmallError } from './room.js'

const MIB = 1 << 20
const live = (startMib: number, endMib: number) => [
  { offsetBytes: endMib * MIB - 4096, lengthBytes: 4096 },
  { offsetBytes: startMib * MIB, lengthBytes: 4096 },
]

describe('room for an image of 3 MiB', () => {
  test.each([
    ['with nothing there, at the start', 10, [], 2, true],
    ['exactly, to the last byte', 5, [], 2, true],
    ['before the live image', 10, live(5, 7), 2, true],
    ['after the live image, where it does not fit before', 10, live(3, 7), 7, true],
    ['in place of the live image, where it fits on neither side', 9, live(3, 7), 2, false],
  ] as const)('%s', (_, capacityMib, extents, startMib, keepsLive) => {
    expect(findRoom(3 * MIB, capacityMib * MIB, extents)).toEqual({ startBytes: startMib * MIB, keepsLive })
  })

  test('after a live image that ends between two MiB, from the next', () => {
    const extents = [{ offsetBytes: 2 * MIB, lengthBytes: 4096 }]
    expect(findRoom(3 * MIB, 10 * MIB, extents)).toEqual({ startBytes: 3 * MIB, keepsLive: true })
  })

  test('nowhere', () => {
    expect(() => findRoom(3 * MIB, 5 * MIB - 1, [])).toThrow(NamespaceTooSmallError)
  })
})
