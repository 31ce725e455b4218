import { describe, expect, test } from 'vitest'
import { queueSizes } from './queue-sizes.js'

const sizes = (
  queueDepth: number,
  maxQueueEntries: number,
  { queueEntries = undefined as number | undefined, sharers = 1 } = {},
) => {
  const { sqEntries, cqEntries, inFlight } = queueSizes({ queueDepth, queueEntries, sharers, maxQueueEntries })
  return [sqEntries, cqEntries, inFlight]
}

describe('by default, a submission queue has the smallest power of two of entries above its depth', () => {
  test.each([
    [1, 2],
    [2, 4],
    [3, 4],
    [4, 8],
    [31, 32],
    [32, 64],
    [63, 64],
    [64, 128],
    [4095, 4096],
  ])('depth %i: %i entries, and as many in its completion queue', (depth, entries) => {
    expect(sizes(depth, 65_536)).toEqual([entries, entries, depth])
  })

  test.each([
    [32, 64, 64, 32],
    [32, 63, 32, 31],
    [32, 33, 32, 31],
    [32, 6, 4, 3],
    [3, 4, 4, 3],
    [4095, 1023, 512, 511],
    [32, 3, 2, 1],
    [32, 2, 2, 1],
  ])('depth %i on a controller that allows %i: %i entries, %i in flight', (depth, allowed, entries, inFlight) => {
    expect(sizes(depth, allowed)).toEqual([entries, entries, inFlight])
  })
})

test.each([
  [{ queueEntries: 33 }, 32, 1024, [33, 33, 32]],
  [{ queueEntries: 256 }, 192, 1024, [256, 256, 192]],
  [{ queueEntries: 64 }, 5, 1024, [64, 64, 5]],
  [{ queueEntries: 2 }, 32, 1024, [2, 2, 1]],
  [{ queueEntries: 100 }, 99, 6, [6, 6, 5]],
])('uses %o as given, within CAP.MQES', (given, depth, allowed, expected) => {
  expect(sizes(depth, allowed, given)).toEqual(expected)
})

describe('a shared completion queue', () => {
  test.each([
    ['has the smallest power of two of entries that holds all commands in flight', 2, 6, 1024, [8, 16, 6]],
    ['has 32 entries for 6 commands of each of 4 submission queues', 4, 6, 1024, [8, 32, 6]],
    ['has no more entries than CAP.MQES allows, and limits the commands in flight', 3, 32, 60, [32, 60, 19]],
    ['of 6 entries holds one command of each of 5 submission queues', 5, 32, 6, [4, 6, 1]],
  ])('%s', (_, sharers, depth, allowed, expected) => {
    expect(sizes(depth, allowed, { sharers })).toEqual(expected)
  })

  test('does not depend on a larger number of entries of its submission queues', () => {
    expect(sizes(5, 1024, { sharers: 2, queueEntries: 64 })).toEqual([64, 16, 5])
  })

  test('never overflows', () => {
    for (let allowed = 2; allowed <= 40; allowed++) {
      for (let sharers = 2; sharers < allowed; sharers++) {
        const [, entries, inFlight] = sizes(7, allowed, { sharers })
        expect(inFlight).toBeGreaterThanOrEqual(1)
        expect(inFlight! * sharers).toBeLessThan(entries!)
        expect(entries).toBeLessThanOrEqual(allowed)
      }
    }
  })
})
