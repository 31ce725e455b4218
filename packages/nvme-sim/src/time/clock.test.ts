import { expect, it } from 'vitest'
import { VirtualClock } from './clock.js'

it('runs events in the order of their times, and those of one instant in the order they were scheduled', async () => {
  const clock = new VirtualClock()
  const ran: string[] = []
  for (const [atNs, name] of [
    [30, 'd'],
    [10, 'a'],
    [20, 'b'],
    [20, 'c'],
    [40, 'e'],
  ] as const) {
    clock.schedule(atNs, () => ran.push(`${name}@${clock.now()}`))
  }
  for (let i = 0; i < 4; i++) await clock.idle(1000)
  expect(ran).toEqual(['a@10', 'b@20', 'c@20', 'd@30', 'e@40'])
})

it('idle runs one instant, with what that schedules for the same instant, and not the next', async () => {
  const clock = new VirtualClock()
  const ran: string[] = []
  clock.schedule(5, () => {
    ran.push('first')
    clock.schedule(5, () => ran.push('second'))
    clock.schedule(6, () => ran.push('third'))
  })
  await clock.idle(100)
  expect(ran).toEqual(['first', 'second'])
  expect(clock.now()).toBe(5)
})

it('idle stops at its deadline when nothing happens before', async () => {
  const clock = new VirtualClock()
  clock.schedule(100, () => undefined)
  await clock.idle(99)
  expect(clock.now()).toBe(99)
  await clock.idle(50)
  expect(clock.now()).toBe(99)
})

it('an event that is scheduled for the past happens now: time never runs backwards', async () => {
  const clock = new VirtualClock()
  await clock.idle(1000)
  let atNs = 0
  clock.schedule(1, () => (atNs = clock.now()))
  await clock.idle(2000)
  expect(atNs).toBe(1000)
})

it('keeps a heap of ten thousand events in order', async () => {
  const clock = new VirtualClock()
  const times: number[] = []
  for (let i = 0; i < 10_000; i++) clock.schedule((i * 7919) % 10_007, () => times.push(clock.now()))
  while (times.length < 10_000) await clock.idle(1e6)
  expect(times).toEqual(times.toSorted((a, b) => a - b))
})

it('refuses a wait that could never end', () => {
  expect(() => new VirtualClock().idle(Infinity)).toThrow(/would never end/)
})
