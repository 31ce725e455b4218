import { expect, test } from 'vitest'
import { judge, render } from '../scripts/test-summary.mjs'

const file = (name: string, failures: readonly string[] = [], skipped: readonly string[] = []) => ({
  ...{ file: name, seconds: 1, passed: 3 },
  failed: failures.map((each) => ({ name: each, error: 'expected 1, got 2' })),
  skipped,
})
const run = (...files: ReturnType<typeof file>[]) => ({ files, errors: [] as string[] })
const anyFile = () => true
const noFile = () => false

test('a file that passes when run again is flaky if it may be retried, and is printed with its first error', () => {
  const verdict = judge(run(file('guest', ['boots'])), run(file('guest')), anyFile, [])
  expect([verdict.failed.length, verdict.flaky.length]).toEqual([0, 1])
  expect(render(verdict)).toEqual([
    'flaky: guest > boots',
    '  expected 1, got 2',
    '3 passed, 0 failed, 1 flaky, 0 skipped',
  ])
})

test('a pass on retry in any other file is nondeterminism, and fails', () => {
  const verdict = judge(run(file('ring', ['wraps'])), run(file('ring')), noFile, [])
  expect(verdict.failed).toEqual([
    { file: 'ring', name: 'wraps', error: 'expected 1, got 2\nnondeterministic: passed when run again' },
  ])
})

test('a file that fails twice is reported as failed', () => {
  const twice = run(file('guest', ['boots']))
  expect(judge(twice, twice, anyFile, []).failed).toHaveLength(1)
})

test('a file that is missing from the second run is reported as failed', () => {
  expect(judge(run(file('guest', ['boots'])), run(), anyFile, []).failed).toHaveLength(1)
})

test('skips are counted by reason, with what enables them', () => {
  const skips = ['ext4 (skipped: [mkfs] mkfs.ext4 is not installed)', 'fat ([mkfs] mkfs.ext4 is not installed)']
  const lines = render(judge(run(file('guard', [], skips)), undefined, noFile, []))
  expect(lines.join('\n')).toMatch(/^skipped 2: \[mkfs\] mkfs\.ext4 is not installed \(to enable: fdisk /)
})

test('GPUNVME_REQUIRE turns skips of the kinds it names into failures, and no others', () => {
  const report = run(file('guard', [], ['ext4 (skipped: [mkfs] no mkfs)', 'reads as root (root reads every file)']))
  expect(judge(report, undefined, noFile, ['mkfs']).problems).toEqual([
    'GPUNVME_REQUIRE=mkfs (programs that make partitions and file systems), but skipped: ext4 (skipped: [mkfs] no mkfs)',
  ])
  expect(judge(report, undefined, noFile, ['qemu']).problems).toEqual([])
})

test('an unknown kind, in GPUNVME_REQUIRE or in a skip, is a failure', () => {
  expect(judge(run(file('a')), undefined, noFile, ['qmeu']).problems[0]).toMatch(
    /^GPUNVME_REQUIRE: unknown kind "qmeu"/,
  )
  const skip = 'reads (skipped: [qmeu] no QEMU)'
  expect(judge(run(file('a', [], [skip])), undefined, noFile, []).problems).toEqual([`unknown kind of skip: ${skip}`])
})

test('an error outside of tests, and a run without tests, fail', () => {
  expect(judge({ files: [file('a')], errors: ['unhandled'] }, undefined, noFile, []).problems).toEqual(['unhandled'])
  expect(judge(run({ ...file('a'), passed: 0 }), undefined, noFile, []).problems).toEqual(['no test ran'])
})

test('a run in which every test is skipped does not fail, and reasons without a kind are grouped too', () => {
  const report = run({ ...file('guests', [], ['boots (needs root)', 'reads (needs root)']), passed: 0 })
  const verdict = judge(report, undefined, noFile, [])
  expect(verdict.problems).toEqual([])
  expect(render(verdict)).toEqual(['skipped 2: needs root', '0 passed, 0 failed, 0 flaky, 2 skipped'])
})
