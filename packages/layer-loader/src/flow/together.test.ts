import { getEventListeners } from 'node:events'
import { expect, test } from 'vitest'
import { together } from './together.js'

test('concurrent reads share one abort listener, which is removed at the end', async () => {
  const { signal } = new AbortController()
  let finish!: () => void
  const finished = new Promise<void>((resolve) => (finish = resolve))
  const reads = Array.from({ length: 20 }, () => together([() => finished], signal))
  expect(getEventListeners(signal, 'abort')).toHaveLength(1)
  finish()
  await Promise.all(reads)
  expect(getEventListeners(signal, 'abort')).toHaveLength(0)
})

test('an abort cancels every call, and the reads reject with its reason', async () => {
  const aborting = new AbortController()
  const call = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  const reads = Array.from({ length: 3 }, () => together([call, call], aborting.signal))
  const reason = new Error('not now')
  aborting.abort(reason)
  await Promise.all(reads.map((read) => expect(read).rejects.toBe(reason)))
})
