import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { checks, QUICK, runChecks, type Check, type Report } from '../../gpu-check/src/index.js'
import { hasStandin, NOTHING, skippedWithoutStandin, useStandin } from '../standin/standin.js'

const standin = useStandin()
const folder = scratch()

const check = (id: string, more: Partial<Check> = {}): Check => ({
  ...{ id, title: id, limitMs: 10_000 },
  run: () => Promise.resolve({}),
  ...more,
})
const failing = check('failing', { run: () => Promise.reject(new Error('the GPU is gone')) })
const ids = ({ checks: results }: Report) => results.map(({ id, verdict }) => `${id} ${verdict}`)

describe.skipIf(!hasStandin)(`a process that runs checks${skippedWithoutStandin}`, () => {
  test('stops after a check that did not pass, since every later driver call may fail', async () => {
    const all = [check('one'), failing, check('three')]
    const first = await runChecks({ checks: all, scale: QUICK })
    expect([first.outcome, first.endedAt, ids(first)]).toEqual(['unfinished', null, ['one passed', 'failing error']])
    expect(standin.live()).toEqual(NOTHING)
    const second = await runChecks({ checks: all, scale: QUICK, before: first })
    expect([second.outcome, ids(second)]).toEqual(['failed', ['one passed', 'failing error', 'three passed']])
  })

  test('runs a check that is marked `alone` in a separate process', async () => {
    const all = [check('one'), check('two', { alone: true }), check('three', { alone: true }), check('four')]
    let report = await runChecks({ checks: all, scale: QUICK })
    const seen = [ids(report).length]
    while (report.outcome === 'unfinished') {
      report = await runChecks({ checks: all, scale: QUICK, before: report })
      seen.push(ids(report).length)
    }
    expect(seen).toEqual([1, 2, 3, 4])
    expect(report.outcome).toBe('passed')
  })
})

describe.skipIf(!hasStandin)(`an installed sanitizer${skippedWithoutStandin}`, () => {
  const path = join(folder, 'compute-sanitizer')
  const memcheck = checks.filter(({ id }) => id === 'sanitizer-memcheck')
  beforeAll(() => {
    process.env['GPUNVME_COMPUTE_SANITIZER'] = path
  })
  afterAll(() => delete process.env['GPUNVME_COMPUTE_SANITIZER'])

  const install = (lines: string) => {
    writeFileSync(path, `#!/bin/sh\n${lines}\n`)
    chmodSync(path, 0o755)
    onTestFinished(() => rmSync(path))
  }

  test('runs checks in a process, and reports only memory accesses', async () => {
    const asked = join(folder, 'asked')
    install(`echo "$@" > ${asked}; echo "========= ERROR SUMMARY: 0 errors"`)
    const { checks: results } = await runChecks({ checks: memcheck, scale: QUICK })
    expect(results).toMatchObject([{ verdict: 'passed', facts: { said: '========= ERROR SUMMARY: 0 errors' } }])
    expect(readFileSync(asked, 'utf8')).toMatch(
      /^--tool memcheck --report-api-errors no --error-exitcode 9 \S+.*main\.js --child --quick --only plans-qd32-pairs1,block-io,block-io-threads,array,expert-fetch,checksum,scatter,pattern --device 0 --report \S+\n$/,
    )
  })

  test('fails the check with its first finding', async () => {
    install('echo "========= Invalid __global__ write of size 8 bytes"; exit 9')
    const { checks: results } = await runChecks({ checks: memcheck, scale: QUICK })
    const reason = 'compute-sanitizer ended with 9: ========= Invalid __global__ write of size 8 bytes'
    expect(results).toMatchObject([{ verdict: 'failed', reason }])
  })

  test('is quoted with its first error and its last line, without stack frames of Node', async () => {
    install(
      'echo "========= Invalid write"; for i in $(seq 1000); do echo "=========  Host Frame:  [0x$i] in node"; done\n' +
        'echo "========= ERROR SUMMARY: 1 error"; exit 9',
    )
    const { checks: results } = await runChecks({ checks: memcheck, scale: QUICK })
    expect(results[0]!.reason).toMatch(
      /^compute-sanitizer ended with 9: ========= Invalid write; [^;]*; \.\.\.; [^;]*; ========= ERROR SUMMARY: 1 error$/,
    )
  })
})
