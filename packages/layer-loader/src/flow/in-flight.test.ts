import { expect, test } from 'vitest'
import { InFlight } from './in-flight.js'

/** A transfer that the test ends. */
function transfer(): { promise: Promise<number>; succeed: (value: number) => void; fail: (error: Error) => void } {
  let succeed!: (value: number) => void
  let fail!: (error: Error) => void
  const promise = new Promise<number>((resolve, reject) => {
    succeed = resolve
    fail = reject
  })
  return { promise, succeed, fail }
}

test('a transfer is counted while it is started and until it ends, and its result is returned', async () => {
  const inFlight = new InFlight()
  const one = transfer()
  let sizeAtStart = 0
  const result = inFlight.start(() => {
    sizeAtStart = inFlight.size
    return one.promise
  })
  expect([sizeAtStart, inFlight.size]).toEqual([1, 1])
  one.succeed(7)
  expect(await result).toBe(7)
  await inFlight.settled()
  expect([inFlight.size, inFlight.failure]).toEqual([0, undefined])
})

test('the first failure counts, and is recorded before the end is announced', async () => {
  const inFlight = new InFlight()
  const [one, two] = [transfer(), transfer()]
  const ends: unknown[] = []
  const ended = () => ends.push([inFlight.size, inFlight.failure?.error])
  void inFlight.start(() => one.promise, ended)
  void inFlight.start(() => two.promise, ended)
  await new Promise(setImmediate)
  const [first, second] = [new Error('first'), new Error('second')]
  two.fail(first)
  one.fail(second)
  await inFlight.settled()
  expect(ends).toEqual([
    [1, first],
    [0, first],
  ])
  inFlight.fail(second)
  await expect(inFlight.drain()).rejects.toBe(first)
})

test('a transfer that throws when it is started fails like any other', async () => {
  const inFlight = new InFlight()
  const error = new RangeError('out of range')
  const result = inFlight.start(() => {
    throw error
  })
  await expect(result).rejects.toBe(error)
  expect(inFlight.failure).toEqual({ error })
  expect(inFlight.size).toBe(0)
})

test('disposal waits for all transfers, whether they succeed or fail', async () => {
  const events: string[] = []
  const [one, two] = [transfer(), transfer()]
  const used = (async () => {
    await using inFlight = new InFlight()
    void inFlight.start(() => one.promise)
    void inFlight.start(() => two.promise)
  })().then(() => events.push('disposed'))
  one.fail(new Error('one'))
  await one.promise.catch(() => undefined)
  await new Promise(setImmediate)
  events.push('two ends')
  two.succeed(2)
  await used
  expect(events).toEqual(['two ends', 'disposed'])
})
