import { expect, it } from 'vitest'
import { SharedClock } from './shared-clock.js'

/** Waits for an instant of its own as drivers do: again and again, until it has come. */
async function until(clock: SharedClock, atNs: number): Promise<number> {
  while (clock.now() < atNs) await clock.idle(atNs)
  return clock.now()
}

it('everybody who waits comes in time, however many they are', async () => {
  const clock = new SharedClock()
  expect(await Promise.all([30, 10, 20].map((atNs) => until(clock, atNs)))).toEqual([30, 10, 20])
  expect(clock.now()).toBe(30)
})

it('an event wakes all who wait, at its time', async () => {
  const clock = new SharedClock()
  const ran: number[] = []
  clock.schedule(7, () => ran.push(clock.now()))
  await Promise.all([clock.idle(100), clock.idle(Infinity)])
  expect([ran, clock.now()]).toEqual([[7], 7])
})

it('time stands still while somebody who lets the event loop turn has not begun to wait again', async () => {
  const clock = new SharedClock()
  clock.schedule(1, () => undefined)
  clock.schedule(1000, () => undefined)
  const slow = async () => {
    await clock.idle(5)
    await new Promise(setImmediate)
    // The other one waits already, and would have gone to 1000.
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

it('a wait that nothing can end is refused to all who share it', async () => {
  const clock = new SharedClock()
  const waits = await Promise.allSettled([clock.idle(Infinity), clock.idle(Infinity)])
  expect(waits.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(() => clock.idle(NaN)).toThrow(RangeError)
})
