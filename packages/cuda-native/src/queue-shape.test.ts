import type { QueuePairMemory } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { checkQueues } from './queue-shape.js'

/** Facts of a queue that the device code supports. */
function queueOf(given: { entries?: number; cqEntries?: number; slots?: number } = {}): QueuePairMemory {
  const { entries = 64, cqEntries = entries, slots = 48 } = given
  return { qid: 1, sqEntries: entries, maxInFlight: slots, cq: { cqid: 1, entries: cqEntries } } as QueuePairMemory
}

describe('queues that the device code does not support are rejected', () => {
  test.each([
    [
      { entries: 33, slots: 32 },
      'queue 1: expected a power of two as the number of entries, got 33; omit queueEntries in Controller.open',
    ],
    [
      { entries: 64, cqEntries: 128 },
      'queue 1: expected a completion queue of 64 entries, like its submission queue, got 128',
    ],
    [{ slots: 64 }, 'queue 1: expected 1 to 63 commands in flight with 64 entries, got 64'],
    [{ slots: 0 }, 'queue 1: expected 1 to 63 commands in flight with 64 entries, got 0'],
    [{ entries: 8192, slots: 4096 }, 'queue 1: expected 1 to 4095 commands in flight with 8192 entries, got 4096'],
  ])('%o', (given, message) => {
    expect(() => checkQueues([queueOf(given)])).toThrow(new RangeError(message))
  })

  test('two queues with one completion queue', () => {
    const queue = queueOf()
    expect(() => checkQueues([queue, { ...queue, qid: 2 }])).toThrow(
      new TypeError(
        'queue 1: expected a completion queue of its own, got a shared one; ' +
          'omit completionQueues in Controller.open, or pass fewer queues',
      ),
    )
  })
})

test('queues of 2 to 4096 entries with one command fewer in flight are accepted', () => {
  const queues = [2, 64, 4096].map((entries) => queueOf({ entries, slots: entries - 1 }))
  expect(() => checkQueues(queues)).not.toThrow()
})
