import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { AbortListeners } from './abort-listeners.js'

test('adds one listener for any number of actions, and removes it with the last of them', () => {
  const aborts = new AbortListeners()
  const { signal } = new AbortController()
  const ends = Array.from({ length: 40 }, () => aborts.listen(signal, () => undefined))
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  for (const end of ends) end()
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
  ends[0]!()
  aborts.listen(signal, () => undefined)
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
})

test('an abort calls each remaining action of its signal once, in order', () => {
  const aborts = new AbortListeners()
  const first = new AbortController()
  const other = new AbortController()
  const called: number[] = []
  const [, endOfTwo] = [1, 2, 3].map((id) => aborts.listen(first.signal, () => called.push(id)))
  const endOfFour = aborts.listen(other.signal, () => called.push(4))
  aborts.listen(undefined, () => called.push(5))()
  endOfTwo!()
  first.abort()
  expect(called).toEqual([1, 3])
  endOfFour()
  other.abort()
  expect(called).toEqual([1, 3])
})

test('an action that another one removes is not called', () => {
  const aborts = new AbortListeners()
  const controller = new AbortController()
  const called: string[] = []
  const ends = ['first', 'second'].map((name) =>
    aborts.listen(controller.signal, () => {
      called.push(name)
      for (const end of ends) end()
    }),
  )
  controller.abort()
  expect(called).toEqual(['first'])
})
