import { expect, test } from 'vitest'
import { sweep } from '../../test/bench-results.js'
import { mixedFailures } from '../../test/bench-shapes.js'
import type { BenchCell, BenchRepeat, BenchSource } from '../report/bench-results.js'
import { CellTable, describeShape, legend } from './cell-table.js'
import { sameShape } from './shape.js'

const SOURCES: readonly BenchSource[] = [
  { name: 'cpu-kernel', kind: 'engine', description: '', memory: 'host', latencyOf: 'plan' },
  { name: 'io_uring', kind: 'baseline', description: '', memory: 'host', latencyOf: 'call' },
]
const LINK = { gen: 3, width: 4, mps: 256, payloadLimitBytesPerSecond: 3.6e9 }
const SHAPE = { rw: 'read', pattern: 'random', blockBytes: 131_072, depth: 32, jobs: 4 } as const

const repeat = (bytesPerSecond: number, changes: Partial<BenchRepeat> = {}): BenchRepeat => ({
  bytes: bytesPerSecond,
  commands: Math.round(bytesPerSecond / 131_072),
  seconds: 1,
  cpuSeconds: 0.5,
  latency: {
    minNs: 1000,
    maxNs: 1_300_000,
    buckets: [
      [1_200_000, 98],
      [1_300_000, 2],
    ],
  },
  ...changes,
})
const cell = (source: string, repeats: readonly BenchRepeat[], problem?: BenchCell['problem']): BenchCell => ({
  source,
  ...SHAPE,
  repeats,
  ...(problem && { problem }),
})

test('a row has the rate with its interval, the share of the limit, and the ratio to the baseline', () => {
  const rows = new CellTable({ sources: SOURCES, link: LINK, time: 'wall' }).rows(SHAPE, [
    cell('cpu-kernel', [repeat(3e9), repeat(3.2e9)]),
    cell('io_uring', [repeat(1.5e9), repeat(1.6e9)]),
  ])
  // Means 3.1 and 1.55; 3.1 / 3.6 is 86 %; t(1) is 12.706, of a standard error of 0.1 and 0.05; 0.5 s of CPU each.
  expect(rows).toEqual([
    'randread 128 KiB, depth 32, 4 jobs',
    expect.stringMatching(/^cpu-kernel +3\.1\d* ± 1\.27\d* GB\/s +86 % +23\.7 +- +- +0\.161 +2\.00$/) as string,
    expect.stringMatching(/^io_uring +1\.55\d* ± 0\.6\d* GB\/s +43 % +11\.8 +1\.2 ms +1\.3 ms +0\.323 +-$/) as string,
  ])
})

test('rows give the reason for refused and failed cells, and for outliers', () => {
  const refused = { kind: 'refused', reason: 'too deep', next: '--qd 8' } as const
  const table = new CellTable({ sources: SOURCES, link: LINK, time: 'wall' })
  expect(table.rows(SHAPE, [cell('cpu-kernel', [], refused)])[1]).toBe('cpu-kernel  not run: too deep; try: --qd 8')
  const failed = { kind: 'failed', reason: 'SMART counts 0 Read commands' } as const
  expect(table.rows(SHAPE, [cell('io_uring', [repeat(1e9)], failed)])[1]).toBe(
    'io_uring    REJECTED: SMART counts 0 Read commands',
  )
  const marked = [repeat(3e9), repeat(1e9, { outlier: 'modified z-score 9.0', turn: 4 }), repeat(3e9)]
  expect(table.rows(SHAPE, [cell('io_uring', marked)]).slice(2)).toEqual([
    '            median 3 GB/s; outliers, included in the mean: turn 4 (modified',
    '            z-score 9.0)',
  ])
})

test('no line is wider than 80 columns', () => {
  for (const results of [sweep(), mixedFailures()]) {
    const { cells, sources, link } = results
    const table = new CellTable(results)
    const rows = cells.flatMap((one) =>
      table.rows(
        one,
        cells.filter((each) => sameShape(each, one)),
      ),
    )
    const lines = [table.titles, ...rows, ...legend(sources, link)]
    expect(lines.filter((line) => line.length > 80)).toEqual([])
  }
})

test('a modelled rate has no margin of error and no CPU time', () => {
  const [host] = SOURCES
  const table = new CellTable({ sources: [host!], link: LINK, time: 'modelled' })
  expect(table.titles).toMatch(/^SOURCE +RATE +LIMIT +kIOPS +P50 +P99$/)
  expect(table.rows(SHAPE, [cell('cpu-kernel', [repeat(3e9), repeat(3.2e9)])])[1]).toMatch(
    /^cpu-kernel +3\.10 GB\/s +86 % +23\.7 +- +-$/,
  )
})

test('the legend names the link limit, or says that the link is unknown', () => {
  expect(legend(SOURCES, LINK)).toEqual([
    'LIMIT: share of 3.6 GB/s, the payload limit of Gen3 x4 at MPS 256.',
    'TIMES: rate divided by that of io_uring in the same run.',
    'P50, P99: cpu-kernel measures plans, not commands; see --json.',
  ])
  expect(legend([], undefined)).toEqual(['LIMIT: the link is unknown, so rates have no denominator.'])
})

test('describeShape uses the terms of fio', () => {
  expect(describeShape({ rw: 'write', pattern: 'sequential', blockBytes: 4096, depth: 1, jobs: 1 })).toBe(
    'write 4 KiB, depth 1, 1 job',
  )
})
