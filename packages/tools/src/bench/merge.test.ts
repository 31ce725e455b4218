import { describe, expect, test } from 'vitest'
import { oneCell, sweep } from '../../test/bench-results.js'
import { readResults } from '../report/read-results.js'
import { mergeResults } from './merge.js'
import type { BenchResults } from '../report/bench-results.js'

const engine = { ...oneCell().sources[0]! }
const baseline = { ...engine, name: 'io_uring', kind: 'baseline' as const }

/** Results of a run with our driver; `linux` has those with the driver of Linux. */
const ours = (changes: Partial<BenchResults> = {}): BenchResults => ({
  ...oneCell(),
  time: 'wall',
  transport: 'vfio',
  startedAt: '2026-11-22T18:10:00Z',
  sources: [engine, { ...baseline, missing: { reason: 'our driver has the drive' } }],
  timeline: { cell: 0, commands: [{ queue: 1, startNs: 0, endNs: 5, bytes: 512 }] },
  ...changes,
})
const linux = (changes: Partial<BenchResults> = {}): BenchResults => ({
  ...oneCell(),
  time: 'wall',
  transport: 'kernel',
  sources: [{ ...engine, missing: { reason: "the drive is bound to Linux's driver" } }, baseline],
  cells: oneCell().cells.map((cell) => ({ ...cell, source: 'io_uring' })),
  ...changes,
})

test('mergeResults joins two runs in the order of their start times', () => {
  const merged = mergeResults(ours(), linux())
  expect(mergeResults(linux(), ours())).toEqual(merged)
  expect(merged.startedAt).toBe('2026-11-22T18:00:00Z')
  expect(merged.totalSeconds).toBe(8.4)
  expect(merged.transport).toBe('kernel, vfio')
  expect(merged.cells.map(({ source }) => source)).toEqual(['io_uring', 'host'])
  expect(merged.timeline?.cell).toBe(1)
  expect(merged.runs).toEqual([
    { startedAt: '2026-11-22T18:00:00Z', sources: ['io_uring'] },
    { startedAt: '2026-11-22T18:10:00Z', sources: ['host'] },
  ])
  expect(merged.notes.at(-1)).toContain('did not alternate')
  expect(readResults(JSON.stringify(merged), 'both.json')).toEqual(merged)
})

test('a source that ran in one of the runs is not missing', () => {
  expect(mergeResults(ours(), linux()).sources.map(({ name, missing }) => [name, missing])).toEqual([
    ['io_uring', undefined],
    ['host', undefined],
  ])
})

describe('mergeResults rejects', () => {
  const { drive, method, machine } = oneCell()
  test.each<[string, Partial<BenchResults>]>([
    ['drive', { drive: { ...drive, serialEnd: 'ABCD' } }],
    ['clock', { time: 'modelled' }],
    ['method', { method: { ...method, repeats: 9 } }],
    ['processor', { machine: { ...machine, cpu: 'another' } }],
  ])('another %s', (what, changes) => {
    expect(() => mergeResults(ours(), linux(changes))).toThrow(`not the same ${what}`)
  })

  test('the same source in both', () => {
    expect(() => mergeResults(ours(), ours())).toThrow('host in one')
  })
})

test('mergeResults supports a run of several sources', () => {
  const whole = sweep()
  const added = { ...linux(), ...{ drive: whole.drive, method: whole.method, machine: whole.machine } }
  const extra = { ...added, time: whole.time, sources: [{ ...baseline, name: 'pread' }] }
  const merged = mergeResults(whole, { ...extra, cells: added.cells.map((cell) => ({ ...cell, source: 'pread' })) })
  expect(merged.cells).toHaveLength(whole.cells.length + 1)
})
