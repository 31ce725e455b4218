import { expect, test } from 'vitest'
import { PollingClock } from './polling-clock.js'

const MS = 1_000_000

/** Returns a clock whose time is set by the test. */
function clockAt() {
  const time = { now: 0 }
  return { time, clock: new PollingClock(() => time.now) }
}

test('for 2 ms after a register write, a wait only yields to the event loop', () => {
  const { time, clock } = clockAt()
  time.now = 100 * MS
  clock.touched()
  time.now += 2 * MS - 1
  expect(clock.restMs(time.now, Infinity)).toBe(0)
  time.now += 1
  expect(clock.restMs(time.now, Infinity)).toBe(1)
})

test('later, a wait rests for an eighth of the elapsed time, at most 10 ms', () => {
  const { clock } = clockAt()
  expect(clock.restMs(8 * MS, Infinity)).toBe(1)
  expect(clock.restMs(40 * MS, Infinity)).toBe(5)
  expect(clock.restMs(60_000 * MS, Infinity)).toBe(10)
})

test('a rest never exceeds the deadline', () => {
  const { clock } = clockAt()
  expect(clock.restMs(1000 * MS, 1004 * MS)).toBe(4)
  expect(clock.restMs(1000 * MS, 1000.9 * MS)).toBe(0)
  expect(clock.restMs(1000 * MS, 900 * MS)).toBe(0)
})

test('idle returns although nothing happens, and time does not run backwards', async () => {
  const clock = new PollingClock()
  const before = clock.now()
  await clock.idle(Infinity)
  await clock.idle(before)
  expect(clock.now()).toBeGreaterThanOrEqual(before)
  expect(Number.isInteger(clock.now())).toBe(true)
})

test('a periodic task runs during waits, at most once per interval, until it is stopped', async () => {
  const { time, clock } = clockAt()
  const done: number[] = []
  const stop = clock.every(100, () => done.push(time.now))
  for (time.now = 0; time.now < 350; time.now += 50) await clock.idle(0)
  stop()
  time.now = 1000
  await clock.idle(0)
  expect(done).toEqual([100, 200, 300])
})
