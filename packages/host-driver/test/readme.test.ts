import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { driverCases } from '../conformance/index.js'
import { qemuMissing, skippedNote } from './qemu.js'

const root = join(import.meta.dirname, '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const programs = [...readme.matchAll(/^```js\n(.*?)^```/gms)].map(([, code = '']) => code)

const programWith = (word: string) => {
  const found = programs.filter((code) => code.includes(word))
  expect(found).toHaveLength(1)
  return found[0]!
}

/** Runs code in the package's folder, where the package's name resolves to itself. */
function run(code: string) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', code], {
    cwd: root,
    encoding: 'utf8',
    timeout: 60_000,
  })
  return { status, stdout, stderr }
}

test('has the examples that these tests run, and the one for a drive', () => {
  expect(programs).toHaveLength(4)
})

// `using` is a syntax error on Node 20 and 22.
test.each(programs)('example %#: uses only syntax of the oldest supported Node', (code) => {
  expect(code).not.toMatch(/\busing\b\s+\w+\s*(=|of)/)
})

test('the driver of docs/driver-cases.md can be tested by the cases and by the campaign', () => {
  const page = readFileSync(join(root, 'docs/driver-cases.md'), 'utf8')
  const { status, stdout, stderr } = run(/^```js\n(.*?)^```/ms.exec(page)![1]!)
  expect([status, stderr]).toEqual([0, ''])
  const [, passed, skipped, failed] = /\{ passed: (\d+), skipped: (\d+), failed: (\d+) \}/.exec(stdout)!.map(Number)
  expect(passed).toBeGreaterThanOrEqual(20)
  expect(passed! + skipped! + failed!).toBe(driverCases.length)
  expect(stdout).toMatch(/^shutdown-notification: /m)
  expect(stdout).toMatch(/^seed \d+: leak: open kept \d+ bytes/m)
})

test('the first example runs unmodified', () => {
  expect(run(programWith('queues: 2'))).toEqual({ status: 0, stdout: '', stderr: '' })
})

test('the example with a trace and a fault runs unmodified, and prints each access', () => {
  const { status, stdout, stderr } = run(programWith('textTrace'))
  expect([status, stdout]).toEqual([0, ''])
  expect(stderr).toContain('CC=')
})

test.skipIf(qemuMissing)(`the example on QEMU's controller runs unmodified${skippedNote}`, () => {
  const { status, stdout, stderr } = run(programWith('startQemu'))
  expect([status, stderr]).toEqual([0, ''])
  expect(stdout).toMatch(/^Uint8Array\(16\) \[[\s0,]*\] \n$/) // zeros, and no misuse
})
