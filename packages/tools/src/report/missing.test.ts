import { expect, test } from 'vitest'
import { oneCell, sweep } from '../../test/bench-results.js'
import { mixedFailures, nothingMeasured } from '../../test/bench-shapes.js'
import { missingOf } from './missing.js'

test('cells with the same reason are one entry with the first settings', () => {
  const found = missingOf(mixedFailures())
  expect(found[0]).toEqual({
    source: 'cuFile',
    what: 'all of it',
    why: 'libcufile.so.0 is not installed',
    next: 'apt install libcufile-12-4',
  })
  expect(found).toContainEqual({
    source: 'cuda',
    what: 'sequential reads, 1 MiB, queue depth 1; sequential reads, 1 MiB, queue depth 2; sequential reads, 1 MiB, queue depth 4; and 3 more',
    why: '1 MiB is more than one command may transfer: MDTS is 512 KiB',
    next: '--bs 512KiB, or less',
  })
  expect(found.find(({ why }) => why.startsWith('measured, but invalid: '))?.source).toBe('host')
})

test('a complete run has no entries', () => {
  expect(missingOf(sweep())).toEqual([])
})

test('CPU time is missing in modelled time', () => {
  expect(missingOf(oneCell()).map(({ what }) => what)).toEqual(['CPU time'])
})

test('a cell without transferred bytes is missing with its reason', () => {
  const idle = { bytes: 0, commands: 0, seconds: 1 }
  const only = oneCell().cells[0]!
  const why = (repeats: typeof only.repeats) => missingOf({ ...sweep(), cells: [{ ...only, repeats }] })[0]?.why
  expect(why([idle])).toBe('no data were moved')
  expect(why([{ ...idle, problem: 'the kernel did not execute' }])).toBe('the kernel did not execute')
  expect(why([])).toBe('no repeat was run')
})

test('a run without valid cells has an entry for each source', () => {
  const { sources } = nothingMeasured()
  expect(
    missingOf(nothingMeasured())
      .map(({ source }) => source)
      .sort(),
  ).toEqual(sources.map(({ name }) => name).sort())
})
