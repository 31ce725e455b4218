import { expect, test } from 'vitest'
import { EventQueue } from './event-queue.js'

test('events run in the order of their times, and simultaneous ones in the order of scheduling, due or not', () => {
  const queue = new EventQueue()
  const expected: { atNs: number; index: number }[] = []
  const happened: number[] = []
  let nowNs = 0
  let index = 0
  // Adds more events than it removes, so that the ring of due events grows while its first is in the middle.
  for (let round = 0; round < 500; round++) {
    for (const delayNs of [0, (round * 7) % 11, round % 3]) {
      const own = index++
      expected.push({ atNs: nowNs + delayNs, index: own })
      const note = () => happened.push(own)
      if (delayNs === 0) queue.pushDue(nowNs, note)
      else queue.push(nowNs + delayNs, note)
    }
    if (round % 2 === 0) continue
    nowNs = Math.max(nowNs, queue.nextNs)
    queue.pop()()
    expected.sort((a, b) => a.atNs - b.atNs || a.index - b.index)
    expect(happened.at(-1)).toBe(expected.shift()!.index)
  }
  while (queue.nextNs < Infinity) queue.pop()()
  expect(happened.slice(250)).toEqual(expected.sort((a, b) => a.atNs - b.atNs || a.index - b.index).map((e) => e.index))
})

test('popUntil returns an event only when it is due', () => {
  const queue = new EventQueue()
  const later = () => undefined
  const now = () => undefined
  queue.push(20, later)
  queue.pushDue(10, now)
  expect(queue.nextNs).toBe(10)
  expect(queue.popUntil(9)).toBeUndefined()
  expect(queue.popUntil(10)).toBe(now)
  expect(queue.popUntil(19)).toBeUndefined()
  expect(queue.popUntil(20)).toBe(later)
  expect(queue.nextNs).toBe(Infinity)
})
