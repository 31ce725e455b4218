import { expect, test } from 'vitest'
import { oneCell, SOURCES, sweep } from '../../test/bench-results.js'
import { mixedFailures, modelled, nothingMeasured } from '../../test/bench-shapes.js'
import type { BenchCell, BenchResults, BenchSource } from './bench-results.js'
import { headlineOf } from './headline.js'

/** Returns a cell with a repeat for each of these rates in GB/s. */
function cell(source: string, rates: readonly number[], setting: Partial<BenchCell> = {}): BenchCell {
  const repeats = rates.map((rate) => ({ bytes: rate * 1e9, commands: 1000, seconds: 1 }))
  return { source, rw: 'read', pattern: 'sequential', blockBytes: 131_072, depth: 32, jobs: 1, repeats, ...setting }
}

function results(cells: readonly BenchCell[], more: Partial<BenchResults> = {}): BenchResults {
  const sources: BenchSource[] = [SOURCES.cuda, SOURCES.host, SOURCES.io_uring]
  return { ...sweep(), sources, cells, ...more }
}

test('the claim names engine, rate with margin, drive and setting', () => {
  const { claim, context } = headlineOf(results([cell('cuda', [3.4, 3.5, 3.6]), cell('io_uring', [3.0, 3.0, 3.0])]))
  expect(claim).toBe(
    'Engine cuda reads 3.50 ± 0.25 GB/s from WD PC SN740 SDDQNQD-512G: sequential reads, 128 KiB each, at queue depth 32.',
  )
  expect(context).toEqual([
    'That is 97 % of the payload limit of its link, 3.60 GB/s (Gen3 x4, MPS 256).',
    'It has 1.17 ± 0.08 times the rate of io_uring at the same setting in this run.',
  ])
})

test('a difference within the margin of error is not claimed', () => {
  const { context } = headlineOf(results([cell('cuda', [3.0, 3.3, 3.6]), cell('io_uring', [2.9, 3.2, 3.5])]))
  expect(context[1]).toMatch(/^It cannot be told from io_uring \(1\.03 ± 0\.\d\d times its rate\)/)
})

test('the best setting of a baseline is also named', () => {
  const large = { blockBytes: 1_048_576 }
  const cells = [cell('cuda', [3.5, 3.5]), cell('io_uring', [2.0, 2.0]), cell('io_uring', [3.4, 3.4], large)]
  expect(headlineOf(results(cells)).context[1]).toContain(
    'At its own best, 1 MiB, queue depth 32, io_uring has 3.40 ± 0.00 GB/s.',
  )
})

test('the memory of the data is named if it differs', () => {
  const { context } = headlineOf(results([cell('host', [3.3, 3.3]), cell('io_uring', [3.0, 3.0])]))
  expect(context[1]).toContain('engine host has its data in host memory, io_uring has its data in GPU memory.')
})

test('modelled time is marked as a prediction', () => {
  const { claim, context } = headlineOf(modelled())
  expect(claim).toMatch(/^In modelled time, engine host reads 3\.\d+ GB\/s from a simulated WD PC SN740: /)
  expect(context[0]).toBe('Times are modelled: this is a prediction of the simulator, not a measurement.')
})

test('the setting with the least bytes in flight is named among equally fast ones', () => {
  const deep = { depth: 64 }
  expect(headlineOf(results([cell('cuda', [3.5, 3.51], deep), cell('cuda', [3.5, 3.5])])).claim).toContain('depth 32')
})

test('reads take precedence over writes, and engines over baselines', () => {
  const cells = [cell('host', [9, 9], { rw: 'write' }), cell('io_uring', [8, 8]), cell('cuda', [3, 3])]
  expect(headlineOf(results(cells)).claim).toMatch(/^Engine cuda reads 3\.00/)
  expect(headlineOf(results(cells.slice(0, 1))).claim).toMatch(/^Engine host writes 9\.00 ± 0\.00 GB\/s to WD/)
  expect(headlineOf(results(cells.slice(1, 2))).context[1]).toBe('No engine was measured; this is a baseline.')
})

test('a baseline of another run is marked', () => {
  expect(headlineOf(mixedFailures()).context[1]).toContain('in another run on the same drive')
})

test('a missing link or baseline is reported', () => {
  expect(headlineOf(oneCell()).context.slice(1)).toEqual([
    'The link of the drive is unknown, so there is no limit to compare with.',
    'No baseline was requested for comparison.',
  ])
  expect(headlineOf(results([cell('cuda', [3, 3])])).context[1]).toBe(
    'No baseline was measured at this setting (io_uring: see what could not be measured).',
  )
})

test('a rate above the limit of the link is a caveat', () => {
  expect(headlineOf(results([cell('cuda', [3.9, 3.9])])).caveats).toEqual([
    expect.stringMatching(/^1 cell of 1 is above the limit of the link: not all bytes came from the drive/),
  ])
  expect(headlineOf(results([cell('cuda', [3.5, 3.5])])).caveats).toEqual([])
})

test('failed cells, failed repeats and single repeats are caveats', () => {
  expect(headlineOf(mixedFailures()).caveats).toEqual([
    '6 cells of 144 failed the checks of the run; their rates are not shown.',
    expect.stringMatching(/^\d+ repeats failed the checks of the run and are excluded\.$/),
  ])
  expect(headlineOf({ ...oneCell(), time: 'wall' }).caveats[0]).toMatch(/^Single repeats have no confidence interval/)
  expect(headlineOf(oneCell()).caveats).toEqual([])
})

test('the claim of a run without valid rates says so', () => {
  expect(headlineOf(nothingMeasured())).toEqual({
    claim: 'Nothing was measured: no cell of this run has a valid rate.',
    context: [],
    caveats: [],
  })
  expect(headlineOf(results([cell('cuda', [0, 0])])).claim).toMatch(/^Nothing was measured/)
})
