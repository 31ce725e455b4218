import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { traceToFile } from './trace-output.js'
import { writeEvents } from './write-events.js'

const folder = mkdtempSync(join(tmpdir(), 'gpunvme-trace-'))
afterAll(() => rmSync(folder, { recursive: true }))

const open = (path: string) => traceToFile(path, (output) => writeEvents('jsonl', output, { title: '' }))

test('a trace has every event, those before its end among them, and takes the place of its file only then', () => {
  const path = join(folder, 'trace.jsonl')
  writeFileSync(path, 'before')
  const { sink, end } = open(path)
  // More than is held back at once, and a rest.
  for (let timeNs = 0; timeNs < 3000; timeNs++) sink({ timeNs, track: 'bar', name: 'read CSTS' })
  expect(readFileSync(path, 'utf8')).toBe('before')
  end()
  end()
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { timeNs: number }).timeNs)).toEqual([...Array(3000).keys()])
  expect(readdirSync(folder)).toEqual(['trace.jsonl'])
})

test('a trace of a folder that is gone fails, and leaves no file', () => {
  expect(() => open(join(folder, 'missing', 'trace.jsonl'))).toThrow(expect.objectContaining({ category: 'not-found' }))
  expect(existsSync(join(folder, 'missing'))).toBe(false)
})
