import { expect, test } from 'vitest'
import { hostMemory } from '../../test/host-memory.js'
import { bytesIn, fillBytes, moveBytes } from './memory-bytes.js'

const counted = (lengthBytes: number) => Uint8Array.from({ length: lengthBytes }, (_, index) => index)

test('bytesIn returns a view, also of memory that starts inside its buffer', () => {
  const bytes = counted(20)
  const part = bytesIn(hostMemory(bytes.subarray(5)), 3, 4)
  expect([...part]).toEqual([8, 9, 10, 11])
  part[0] = 99
  expect(bytes[8]).toBe(99)
})

test('bytesIn rejects ranges outside of the memory, and memory without a view', () => {
  const memory = hostMemory(counted(20).subarray(5, 15))
  for (const [at, length] of [
    [7, 4],
    [-1, 1],
    [0.5, 1],
    [11, 0],
  ] as const) {
    expect(() => bytesIn(memory, at, length)).toThrow(/^memory: expected a range inside 0 to 10 bytes/)
  }
  expect(() => bytesIn({ view: undefined }, 0, 0)).toThrow(TypeError)
})

test('moveBytes has the same result for any piece length and any overlap', () => {
  for (const pieceBytes of [1, 2, 3, 5, 100]) {
    for (const [fromBytes, toBytes, lengthBytes] of [
      [3, 4, 10],
      [4, 3, 10],
      [0, 7, 13],
      [7, 0, 13],
      [0, 12, 5],
      [2, 2, 9],
      [5, 9, 0],
    ] as const) {
      const bytes = counted(20)
      moveBytes(hostMemory(bytes), { fromBytes, toBytes, lengthBytes }, pieceBytes)
      expect(bytes).toEqual(counted(20).copyWithin(toBytes, fromBytes, fromBytes + lengthBytes))
    }
  }
})

test('fillBytes fills exactly the given length', () => {
  const bytes = counted(10)
  fillBytes(hostMemory(bytes), 0xa5, 7, 3)
  expect([...bytes]).toEqual([...new Array<number>(7).fill(0xa5), 7, 8, 9])
})
