import { describe, expect, test } from 'vitest'
import type { BenchCounters } from '../report/bench-results.js'
import { hardLimit, problemOf, type Evidence } from './verdict.js'

const GEN3_X4 = { gen: 3, width: 4, mps: 256 } as const

const counters = (changes: Partial<BenchCounters>): { before: BenchCounters; after: BenchCounters } => {
  const before = { dataUnitsRead: '1000', dataUnitsWritten: '50', hostReadCommands: '77', hostWriteCommands: '5' }
  return { before, after: { ...before, ...changes } }
}

/** A repeat of 10,000 reads of 128 KiB in half a second: 2.6 GB/s, 2560 data units. */
const consistent = {
  bytes: 10_000 * 131_072,
  commands: 10_000,
  seconds: 0.5,
  counters: counters({ dataUnitsRead: String(1000 + 2560), hostReadCommands: String(77 + 10_000) }),
}
const evidence: Evidence = { sentCommands: 10_000, engineCommands: 10_000, wrongBytes: undefined }
const judge = (repeat: Partial<typeof consistent>, other: Partial<Evidence> = {}) =>
  problemOf({ ...consistent, ...repeat }, { ...evidence, ...other }, 'read', GEN3_X4)

test('problemOf is undefined for a consistent repeat', () => {
  expect(judge({})).toBeUndefined()
})

describe('problemOf reports a repeat', () => {
  test('problemOf reports a repeat without completed commands', () => {
    expect(judge({ commands: 0, bytes: 0 })).toBe('no command completed')
  })

  test('problemOf reports a repeat whose engine executed fewer commands than it reports', () => {
    expect(judge({}, { engineCommands: 9999 })).toContain('executed 9999 commands, but reports 10000')
  })

  test('problemOf reports a repeat without commands in the SMART counters', () => {
    expect(judge({ counters: counters({}) })).toContain('SMART counts 0 Read commands, but 10000 were sent')
  })

  test('problemOf reports a repeat whose SMART commands differ by more than 1 %', () => {
    const read = (commands: number) =>
      judge({ counters: counters({ dataUnitsRead: '3560', hostReadCommands: String(77 + commands) }) })
    expect(read(9899)).toContain('SMART counts 9899 Read commands')
    expect(read(9900)).toBeUndefined()
    expect(read(10_100)).toBeUndefined()
    expect(read(10_101)).toContain('SMART counts 10101 Read commands')
  })

  test('problemOf reports a repeat whose data units are too few by more than 1 % and two units', () => {
    const read = (units: number) =>
      judge({ counters: counters({ dataUnitsRead: String(1000 + units), hostReadCommands: '10077' }) })
    expect(read(2531)).toContain('SMART counts 2531 data units, but 1310720000 bytes (2560 units) were moved')
    expect(read(2533)).toBeUndefined()
  })

  test('problemOf reports a repeat whose reads were counted as writes', () => {
    const others = counters({ dataUnitsWritten: String(50 + 2560), hostWriteCommands: '10005' })
    expect(judge({ counters: others })).toContain('SMART counts 0 Read commands')
    expect(problemOf({ ...consistent, counters: others }, evidence, 'write', GEN3_X4)).toBeUndefined()
  })

  test('problemOf reports a repeat with wrong bytes', () => {
    expect(judge({}, { wrongBytes: 'LBA 0x0 to 0x7 differ' })).toBe('LBA 0x0 to 0x7 differ')
  })

  test('problemOf reports a repeat above the limit of the link, 3.65 GB/s for Gen3 x4 at MPS 256', () => {
    expect(judge({ seconds: consistent.bytes / 3.65e9 })).toBeUndefined()
    expect(judge({ seconds: consistent.bytes / 3.66e9 })).toBe(
      '3.66 GB/s exceeds the limit of Gen3 x4 at MPS 256 (3.65 GB/s): the time is wrong',
    )
    expect(problemOf({ ...consistent, seconds: 1e-6 }, evidence, 'read', undefined)).toBeUndefined()
  })
})

test('problemOf of a baseline reports only too few bytes, since Linux splits commands', () => {
  const baseline = { sentCommands: undefined, engineCommands: undefined }
  const units = (read: number) => counters({ dataUnitsRead: String(1000 + read), hostReadCommands: '99999' })
  expect(judge({ counters: units(9999) }, baseline)).toBeUndefined()
  expect(judge({ counters: units(2) }, baseline)).toContain('some came from elsewhere')
})

test('hardLimit counts 12-byte headers of memory writes and completions', () => {
  // Gen3 x4: 4 * 8e9 * 128/130 / 8 = 3.93846e9 bytes a second; 256 of 256 + 12 + 8 are payload.
  expect(hardLimit(GEN3_X4, 'read') / 1e9).toBeCloseTo(3.653, 3)
  expect(hardLimit(GEN3_X4, 'write') / 1e9).toBeCloseTo(3.653, 3)
  expect(hardLimit(GEN3_X4, 'mixed') / 1e9).toBeCloseTo(7.306, 3)
  // 16e9 * 4 * 128/130 / 8 * 128 / 148.
  expect(hardLimit({ gen: 4, width: 4, mps: 128 }, 'read') / 1e9).toBeCloseTo(6.8125, 3)
})
