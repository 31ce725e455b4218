import { expect, it } from 'vitest'
import { SharedClock } from './shared-clock.js'

/** Waits until a time by repeated idle calls, as drivers do. */
async function until(clock: SharedClock, atNs: number): Promise<number> {
  while (clock.now() < atNs) await clock.idle(atNs)
  return clock.now()
}

it('each of several waits ends at its own time', async () => {
  const clock = new SharedClock()
  expect(await Promise.all([30, 10, 20].map((atNs) => until(clock, atNs)))).toEqual([30, 10, 20])
  expect(clock.now()).toBe(30)
})

it('an event ends all waits at its time', async () => {
  const clock = new SharedClock()
  const ran: number[] = []
  clock.schedule(7, () => ran.push(clock.now()))
  await Promise.all([clock.idle(100), clock.idle(Infinity)])
  expect([ran, clock.now()]).toEqual([[7], 7])
})

it('time does not advance while a task that yielded to the event loop has not begun its next wait', async () => {
  const clock = new SharedClock()
  clock.schedule(1, () => undefined)
  clock.schedule(1000, () => undefined)
  const slow = async () => {
    await clock.idle(5)
    await new Promise(setImmediate)
    // The other task is already waiting, and would advance to 1000.
    clock.schedule(2, () => undefined)
    await clock.idle(5)
    return clock.now()
  }
  const other = async () => {
    await clock.idle(2000)
    await clock.idle(2000)
    return clock.now()
  }
  expect(await Promise.all([slow(), other()])).toEqual([2, 2])
})

it('rejects all waits if nothing can end them', async () => {
  const clock = new SharedClock()
  const waits = await Promise.allSettled([clock.idle(Infinity), clock.idle(Infinity)])
  expect(waits.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(() => clock.idle(NaN)).toThrow(RangeError)
})
