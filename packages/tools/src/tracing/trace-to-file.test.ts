import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { traceToFile } from './trace-output.js'
import { writeEvents } from './write-events.js'

const folder = scratch()

const open = (path: string) => traceToFile(path, (output) => writeEvents('jsonl', output, { title: '' }))

test('traceToFile writes every event, and replaces an existing file only at the end', () => {
  const path = join(folder, 'trace.jsonl')
  writeFileSync(path, 'before')
  const { sink, end } = open(path)
  // More events than are buffered at once, and a remainder.
  for (let timeNs = 0; timeNs < 3000; timeNs++) sink({ timeNs, track: 'bar', name: 'read CSTS' })
  expect(readFileSync(path, 'utf8')).toBe('before')
  end()
  end()
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => (JSON.parse(line) as { timeNs: number }).timeNs)).toEqual([...Array(3000).keys()])
  expect(readdirSync(folder)).toEqual(['trace.jsonl'])
})

test('traceToFile rejects a missing folder, and leaves no file', () => {
  expect(() => open(join(folder, 'missing', 'trace.jsonl'))).toThrow(expect.objectContaining({ category: 'not-found' }))
  expect(existsSync(join(folder, 'missing'))).toBe(false)
})
