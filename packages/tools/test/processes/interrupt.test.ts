import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch, type Running } from '../gpunvme.js'
import { BIN, gpunvmeProcess } from '../process.js'
import { emptyImage, imageBytes } from '../simulated-drive.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)
const LIMIT = { timeout: 120_000 }
const MIB = 1024 * 1024

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 130],
] as const)('%s ends the process after clean-up, with exit code %i', LIMIT, async (signal, expected) => {
  const temporary = scratch()
  let isSent = false
  const onStderr = (text: string, child: Running) => {
    if (!isSent && text.includes('A model')) isSent = child.kill(signal) === true
  }
  const { code, stderr } = await gpunvmeProcess(['demo'], { cwd, env: { TMPDIR: temporary }, onStderr })
  expect([code, stderr]).toEqual([expected, expect.stringContaining(`Interrupted by ${signal}`)])
  expect(readdirSync(temporary)).toEqual([])
})

test('a second SIGINT ends the process at once, and still removes its files', LIMIT, async () => {
  const temporary = scratch()
  const onStderr = (text: string, child: Running) => {
    if (/A model/.test(text)) child.kill('SIGINT')
  }
  const ended = await gpunvmeProcess(['demo', '--size', '512MiB'], { cwd, env: { TMPDIR: temporary }, onStderr })
  expect(ended.code).toBe(130)
  expect(ended.stderr).not.toContain('Interrupted by')
  expect(readdirSync(temporary)).toEqual([])
})

test('a second SIGINT leaves a complete trace of the events until then', LIMIT, async () => {
  const pending = ['Namespace 1,', 'Finishing']
  const onStderr = (text: string, child: Running) => {
    if (pending.length > 0 && text.includes(pending[0]!)) {
      pending.shift()
      child.kill('SIGINT')
    }
  }
  const words = ['nvme', 'read', '--capacity', '1TB', '--transport', 'sim', '--blocks', 'all', '-o', 'never.bin']
  const ended = await gpunvmeProcess(['nvme', 'trace', '--format', 'jsonl', '-o', 'ended.jsonl', ...words], {
    cwd,
    onStderr,
  })
  expect(ended.code).toBe(130)
  const lines = readFileSync(at('ended.jsonl'), 'utf8').trimEnd().split('\n')
  const events = lines.map((line) => JSON.parse(line) as { command?: { name: string } })
  expect(events.some(({ command }) => command?.name === 'Read')).toBe(true)
  expect(readdirSync(cwd).filter((name) => /partial|never/.test(name))).toEqual([])
})

test('an interrupted write of a pipeline changes exactly the blocks that it reports', LIMIT, async () => {
  emptyImage(at('half.img'), 1024 * MIB)
  // Endless input, so that the signal arrives during the write; 0x5a is the letter Z.
  const source = `yes ZZZZZZZZZZZZZZZ | tr '\\n' Z | '${process.execPath}' '${BIN}' nvme write - --image half.img --lba 0 --overwrite 'unknown data'`
  const child = spawn('sh', ['-c', source], { cwd, detached: true })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (stderr === '') setTimeout(() => process.kill(-child.pid!, 'SIGINT'), 1000)
    stderr += text
  })
  await once(child, 'close')
  expect(stderr).toMatch(/Writing stopped after .*: Interrupted by SIGINT\n/)
  const [, last = ''] = /LBAs 0x0 to 0x([0-9a-f]+) are written, and flushed\n/.exec(stderr) ?? []
  const end = (Number.parseInt(last, 16) + 1) * 512
  expect(stderr).toContain(`  blocks from LBA 0x${(end / 512).toString(16)} are unchanged\n`)
  expect(new Set(imageBytes(at('half.img'), end - MIB, MIB))).toEqual(new Set([0x5a]))
  expect(new Set(imageBytes(at('half.img'), end, MIB))).toEqual(new Set([0]))
})
