import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { outcomesOf, readReport } from '../first-light/run.js'
import { scratch } from '../gpunvme.js'
import { BIN } from '../process.js'

test('a killed first-light leaves a report that names the running step', { timeout: 60_000 }, async () => {
  const cwd = scratch()
  const env = { ...process.env, GPUNVME_CUDA_LIBRARY: '/nonexistent/libcuda.so.1' }
  const child = spawn(process.execPath, [BIN, 'first-light', '--sim', '--output', 'report.json'], { cwd, env })
  let printed = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  // This step reads 32 MiB, half of them in small commands.
  const watching = setInterval(() => {
    if (/"read-cpu",\s+"outcome": "running"/.test(textOf(join(cwd, 'report.json')))) child.kill('SIGKILL')
  }, 1)
  await new Promise((resolve) => child.once('close', resolve))
  clearInterval(watching)
  expect(child.signalCode, printed).toBe('SIGKILL')
  const report = readReport(join(cwd, 'report.json'))
  expect(report.outcome).toBe('running')
  expect(outcomesOf(report)).toEqual({
    ...{ machine: 'passed', reference: 'skipped', bind: 'skipped', identify: 'passed', 'read-cpu': 'running' },
  })
  expect(readdirSync(cwd)).toEqual(['report.json'])
})

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return '' // not created yet
  }
}
