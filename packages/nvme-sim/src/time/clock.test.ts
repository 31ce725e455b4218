import { expect, it } from 'vitest'
import { HostClock } from '../realtime/host-clock.js'
import { WallClock } from '../realtime/wall-clock.js'
import { VirtualClock } from './clock.js'

it('runs events in the order of their times, and simultaneous ones in the order of scheduling', async () => {
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

it('idle runs all events of one instant, including those scheduled meanwhile, and none of the next', async () => {
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

it('idle stops at its deadline if there is no earlier event', async () => {
  const clock = new VirtualClock()
  clock.schedule(100, () => undefined)
  await clock.idle(99)
  expect(clock.now()).toBe(99)
  await clock.idle(50)
  expect(clock.now()).toBe(99)
})

it('a wait until a fraction of a nanosecond ends at the next whole one', async () => {
  const clock = new VirtualClock()
  let atNs = 0
  clock.schedule(11, () => (atNs = clock.now()))
  await clock.idle(9.5)
  expect(clock.now()).toBe(10)
  await clock.idle(10.5)
  expect([clock.now(), atNs]).toEqual([11, 11])
})

it('an event scheduled in the past runs now: time never decreases', async () => {
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

it('rejects a wait that could never end', () => {
  expect(() => new VirtualClock().idle(Infinity)).toThrow(/would never end/)
})

it.each([NaN, Infinity, 2 ** 53, undefined as never])('rejects an event at %s', (atNs) => {
  for (const clock of [new VirtualClock(), new WallClock()]) {
    expect(() => clock.schedule(atNs, () => undefined)).toThrow(RangeError)
    expect(clock.now()).toBe(0)
  }
})

it.each([
  [NaN, 'NaN'],
  ['x' as never, "'x'"],
  ['5' as never, "'5'"],
  [1e300, '1e+300'],
  [2 ** 53, '9007199254740992'],
  [undefined as never, 'undefined'],
])('rejects a wait until %s', (untilNs, got) => {
  const clock = new VirtualClock()
  clock.schedule(10, () => undefined)
  const real = new HostClock(new Int32Array(new SharedArrayBuffer(1024)))
  for (const wait of [() => clock.idle(untilNs), () => real.idle(untilNs)]) {
    expect(wait).toThrow(RangeError)
    expect(wait).toThrow(`idle: expected nanoseconds below 2^53, or Infinity, got ${got}`)
  }
  expect(clock.now()).toBe(0)
})

it('a wait until Infinity stops at the next event', async () => {
  const clock = new VirtualClock()
  clock.schedule(10, () => undefined)
  await clock.idle(Infinity)
  expect(clock.now()).toBe(10)
})
