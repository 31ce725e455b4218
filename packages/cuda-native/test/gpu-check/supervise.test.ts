import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { supervise, Watchdog, type Check, type Report } from '../../gpu-check/src/index.js'

const folder = scratch()

const checks: readonly Check[] = ['one', 'two', 'three'].map((id) => ({
  ...{ id, title: id, limitMs: 100_000 },
  run: () => Promise.resolve({}),
}))

/** Creates a program that reports like the checks, and executes `deed` during the second one. */
function program(name: string, deed: string): { command: string[]; reportFile: string } {
  const reportFile = join(folder, `${name}.json`)
  const path = join(folder, `${name}.mjs`)
  writeFileSync(
    path,
    `import { readFileSync, renameSync, writeFileSync } from 'node:fs'
    const file = ${JSON.stringify(reportFile)}
    const resumed = process.argv.includes('--resume')
    const report = resumed ? JSON.parse(readFileSync(file, 'utf8')) : { outcome: 'unfinished', endedAt: null, checks: [] }
    const write = (value) => (writeFileSync(file + '.next', JSON.stringify(value)), renameSync(file + '.next', file))
    for (const id of ['one', 'two', 'three']) {
      if (report.checks.some((each) => each.id === id)) continue
      write({ ...report, checks: [...report.checks, { id, verdict: 'error', reason: 'the process ended during the check' }] })
      if (id === 'two') { ${deed} }
      report.checks.push({ id, verdict: 'passed' })
      write(report)
    }
    write({ ...report, outcome: 'failed', endedAt: 'now' })`,
  )
  return { command: [process.execPath, path], reportFile }
}

test('a crash of a process fails only the check that was running', async () => {
  const crash = program(
    'crash',
    "process.kill(process.pid, 'SIGSEGV'); await new Promise(() => setInterval(() => {}, 1e3))",
  )
  const report = await supervise({ ...crash, checks, limitMs: 60_000 })
  expect(report).toMatchObject({
    outcome: 'failed',
    endedAt: 'now',
    checks: [
      { id: 'one', verdict: 'passed' },
      { id: 'two', verdict: 'error', reason: 'the process ended: signal SIGSEGV' },
      { id: 'three', verdict: 'passed' },
    ],
  })
})

test('after a process ends itself, the result of its last check is kept, and another process continues', async () => {
  const left = program(
    'left',
    `report.checks.push({ id, verdict: 'error', reason: 'CudaCallError: CUDA_ERROR_ILLEGAL_ADDRESS' })
     write(report)
     process.kill(process.pid, 'SIGKILL')`,
  )
  const report = await supervise({ ...left, checks, limitMs: 60_000 })
  expect(report).toMatchObject({
    outcome: 'failed',
    endedAt: 'now',
    checks: [
      { id: 'one', verdict: 'passed' },
      { id: 'two', verdict: 'error', reason: 'CudaCallError: CUDA_ERROR_ILLEGAL_ADDRESS' },
      { id: 'three', verdict: 'passed' },
    ],
  })
})

test('a process that hangs in a check that runs alone is killed at its time limit', { timeout: 60_000 }, async () => {
  const hang = program('alone', 'for (;;) {}')
  const alone = checks.map((check) => ({ ...check, alone: check.id === 'two', limitMs: 500 }))
  const report = await supervise({ ...hang, checks: alone, limitMs: 60_000, graceMs: 500 })
  expect(report!.checks[1]).toMatchObject({
    id: 'two',
    reason: 'the process ended: killed because it made no progress',
  })
  expect(report!.checks[2]).toMatchObject({ id: 'three', verdict: 'passed' })
})

test('a process that hangs is killed at the time limit of all checks, and the report states that', async () => {
  const hang = program('hang', 'for (;;) {}')
  const report = await supervise({ ...hang, checks, limitMs: 2_000 })
  const reason = 'the process ended: killed at the time limit of all checks'
  expect(report).toMatchObject({ outcome: 'failed', ended: 'killed at the time limit of all checks' })
  expect(report!.checks.at(-1)).toMatchObject({ verdict: 'error', reason })
  expect(JSON.parse(readFileSync(hang.reportFile, 'utf8')) as Report).toEqual(report)
})

test('a process that never writes a report is not restarted forever', async () => {
  const reportFile = join(folder, 'nothing.json')
  const command = [process.execPath, '-e', '0']
  expect(await supervise({ command, checks, reportFile, limitMs: 60_000 })).toBeUndefined()
})

test('the time limit for the end of a process starts at the end of its last check', () => {
  // As written by run-checks.ts before a check, and after the last one.
  const soFar = (reason?: string) =>
    ({ endedAt: null, checks: [{ id: 'three', verdict: 'passed', ...(reason && { reason }) }] }) as unknown as Report
  const watchdog = new Watchdog(checks, 0)
  expect(watchdog.hasExpired(soFar('the process ended during the check'), 200)).toBe(false)
  expect(watchdog.hasExpired(soFar('the process ended during the check'), 60_000)).toBe(false)
  expect(watchdog.hasExpired(soFar(), 60_200)).toBe(false)
  expect(watchdog.hasExpired(soFar(), 65_199)).toBe(false)
  expect(watchdog.hasExpired(soFar(), 65_200)).toBe(true)
})
