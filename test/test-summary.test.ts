import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { root } from './packages.js'

const folder = mkdtempSync(join(tmpdir(), 'gpunvme-summary-'))
afterAll(() => {
  rmSync(folder, { recursive: true })
})

/** The summary of a repository of one package, whose tests skipped these. */
function summary(skipped: readonly string[], required?: string): { status: number | null; out: string; err: string } {
  const reports = [join(folder, '.reports'), join(folder, 'packages', 'a', '.reports')]
  const script = join(folder, 'scripts', 'test-summary.mjs')
  for (const made of [...reports, join(script, '..')]) mkdirSync(made, { recursive: true })
  copyFileSync(join(root, 'scripts', 'test-summary.mjs'), script)
  for (const report of reports)
    writeFileSync(join(report, 'tests.json'), JSON.stringify({ passed: 2, failed: 0, skipped: [] }))
  writeFileSync(join(reports[1]!, 'tests.json'), JSON.stringify({ passed: 1, failed: 0, skipped }))
  const env = { ...process.env, GPUNVME_REQUIRE: required }
  const { status, stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8', env })
  return { status, out: stdout, err: stderr }
}

const qemu = 'on QEMU (skipped: [qemu] qemu-system-x86_64 is not installed) > brings the controller up'
const mkfs = 'agrees with the tools > XFS by mkfs.xfs ([mkfs] mkfs.xfs is not installed)'

test('a skip is printed with its reason, and is no failure', () => {
  expect(summary([qemu, mkfs, 'a file that may not be read [skipped as root]'])).toEqual({
    status: 0,
    out: `skipped: ${qemu}\nskipped: ${mkfs}\nskipped: a file that may not be read [skipped as root]\n3 passed, 0 failed, 3 skipped\n`,
    err: '',
  })
})

test('GPUNVME_REQUIRE makes failures of skips of the kinds it names, and of no others', () => {
  expect(summary([qemu, mkfs], 'mkfs,browser')).toMatchObject({
    status: 1,
    err: `GPUNVME_REQUIRE=mkfs (programs that make partitions and file systems), but skipped: ${mkfs}\n`,
  })
  expect(summary([qemu], 'mkfs,browser')).toMatchObject({ status: 0, err: '' })
  expect(summary([qemu], 'qemu')).toMatchObject({ status: 1 })
})

test('a kind that is not known is refused, where it is required and where a test skips by it', () => {
  const wrong = summary([], 'qmeu')
  expect(wrong.status).toBe(1)
  expect(wrong.err).toMatch(/^GPUNVME_REQUIRE: expected kinds of skips, got "qmeu"; known are\n {2}native: /)
  const skip = summary(['x ([qmeu] no)'])
  expect(skip.status).toBe(1)
  expect(skip.err).toMatch(/^a skip of an unknown kind: x \(\[qmeu\] no\); known are\n/)
})
