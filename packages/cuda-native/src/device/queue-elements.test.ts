import { expect, test } from 'vitest'
import { QueueElements } from './queue-elements.js'

test('reserves the first range that is long enough, and reserves it again once it is released', () => {
  const elements = new QueueElements(8)
  expect([elements.reserve(2), elements.reserve(4), elements.reserve(1)]).toEqual([0, 2, 6])
  elements.release(0, 2)
  // Elements 0, 1 and 7 are free.
  expect(() => elements.reserve(3)).toThrow(
    new RangeError(
      'maxQueues: expected room for 3 more queues, got 8 with 5 reserved; ' +
        'raise it in deviceQueues, or free() the engines of closed controllers',
    ),
  )
  expect([elements.reserve(2), elements.reserve(1)]).toEqual([0, 7])
  expect(() => elements.reserve(1)).toThrow('got 8 with 8 reserved')
})
