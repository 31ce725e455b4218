import { describe, expect, test } from 'vitest'
import type { BenchCell, BenchRepeat } from '../report/bench-results.js'
import { healthNotes } from './run-bench.js'
import { paceNotes, paceOf } from './pace.js'

const cell = (repeats: readonly Partial<BenchRepeat>[]): BenchCell => ({
  ...{ source: 'host', rw: 'read', pattern: 'sequential', blockBytes: 131_072, depth: 32, jobs: 1 },
  repeats: repeats.map((changes, turn) => ({ bytes: 3e9, commands: 1, seconds: 1, turn, ...changes })),
})

describe('healthNotes', () => {
  test('report the first and the maximum temperature', () => {
    const warm = (before: number, after: number, turn: number) => ({ temperatureCelsius: { before, after }, turn })
    expect(healthNotes([cell([warm(48, 55, 3)]), cell([warm(41, 71, 0), warm(60, 50, 1)])])).toEqual([
      'Composite Temperature: 41 °C before the first repeat, at most 71 °C.',
    ])
  })

  test('report the throttled time of the drive', () => {
    expect(healthNotes([cell([{ throttledSeconds: 3 }, { throttledSeconds: 0 }, { throttledSeconds: 4 }])])).toEqual([
      expect.stringContaining('throttled for 7 s'),
    ])
    expect(healthNotes([cell([{ throttledSeconds: 0 }])])).toEqual([])
  })

  test('report repeats that become slower', () => {
    const rates = (...bytes: number[]) => cell(bytes.map((each) => ({ bytes: each })))
    expect(healthNotes([rates(3.3e9, 3.3e9, 3.2e9, 2.1e9, 2.1e9)])).toEqual([
      'host, read 128 KiB, depth 32, 1 job: the last repeats were 36 % slower than the first: heat, or a full cache. A longer --cool-down shows which.',
    ])
    expect(healthNotes([rates(3.3e9, 3.2e9, 3.3e9, 3.2e9, 3e9)])).toEqual([])
  })
})

describe('the pace of a repeat', () => {
  const run = { bytes: 0, commands: 0, plans: 100, startNs: 1000, endNs: 1000 + 2e9 }

  test('the pace of a repeat is the rate of its second half relative to the first', () => {
    expect(paceOf({ ...run, halves: [3e9, 1.5e9] }, 2)).toBeCloseTo(0.5, 10)
    expect(paceOf({ ...run, halves: [3e9, 3e9] }, 2)).toBeCloseTo(1, 10)
  })

  test('the pace of a repeat is undefined for too few plans or an empty half', () => {
    expect(paceOf({ ...run, plans: 15, halves: [3e9, 1e9] }, 2)).toBeUndefined()
    expect(paceOf({ ...run, halves: [0, 3e9] }, 2)).toBeUndefined()
  })

  test('a pace that drops by more than a tenth is reported', () => {
    expect(paceNotes([1, 0.91, 1.1])).toEqual([])
    expect(paceNotes([1, 0.6, 0.8])).toEqual([expect.stringMatching(/^2 of 3 repeats were slower .* by up to 40 %/)])
  })
})
