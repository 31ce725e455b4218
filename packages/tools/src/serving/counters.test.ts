import { expect, test } from 'vitest'
import { describeCounters, describeDone, type Counters } from './counters.js'

const none: Counters = {
  ...{ clients: 0, connected: false, adminCommands: {}, ioCommands: {} },
  ...{ errors: 0, bytesRead: 0, bytesWritten: 0, queueDepth: 0, faultsInjected: 0 },
}

test('describeCounters has totals, and rates since the previous sample', () => {
  const before = { ...none, clients: 1, connected: true, adminCommands: { 6: 19 }, ioCommands: { 2: 1000 } }
  const now = {
    ...{ ...before, ioCommands: { 1: 500, 2: 6000 }, bytesRead: 20_480_000, bytesWritten: 1_000_000 },
    ...{ queueDepth: 32, faultsInjected: 1 },
  }
  expect(describeCounters({ atMs: 1250, counters: now }, { atMs: 1000, counters: before })).toBe(
    '6519 commands, 22.0 kIOPS, 81.9 MB/s read, 4 MB/s written, 32 in flight, 1 fault, client 1',
  )
})

test('describeCounters has no rates without elapsed time', () => {
  const sample = { atMs: 1000, counters: none }
  expect(describeCounters(sample, sample)).toBe(
    '0 commands, 0 IOPS, - read, - written, 0 in flight, 0 faults, no client',
  )
})

test('describeDone counts commands, errors and faults between two samples', () => {
  const before = { ...none, adminCommands: { 6: 2 }, errors: 1, faultsInjected: 1 }
  const now = { ...before, adminCommands: { 6: 10 }, ioCommands: { 2: 6 }, errors: 2 }
  expect(describeDone(now, before)).toBe('14 commands, 1 error')
  expect(describeDone({ ...now, faultsInjected: 3 }, before)).toBe('14 commands, 1 error, 2 faults injected')
})
