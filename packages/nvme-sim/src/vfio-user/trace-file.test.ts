import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseTraceLine } from '@gpunvme/nvme-spec/trace'
import { scratch } from '../../../../test/scratch.js'
import { TraceFile } from './trace-file.js'

const folder = scratch()

const event = (timeNs: number) => ({ timeNs, track: 'bar', name: 'read CSTS', details: { value: timeNs } })

it('writes text with one line per event when it is closed', () => {
  const path = join(folder, 'a.txt')
  const trace = new TraceFile({ path, format: 'text' })
  trace.sink(event(1))
  expect(readFileSync(path, 'utf8')).toBe('')
  trace.close()
  expect(readFileSync(path, 'utf8')).toMatch(/^ +0\.000001 ms {2}bar +read CSTS +value=1\n$/)
})

it('writes large traces in parts, completely', () => {
  const path = join(folder, 'b.jsonl')
  const trace = new TraceFile({ path, format: 'jsonl' })
  for (let timeNs = 0; timeNs < 20_000; timeNs++) trace.sink(event(timeNs))
  expect(readFileSync(path).length).toBeGreaterThan(256 * 1024)
  trace.close()
  const lines = readFileSync(path, 'utf8').trimEnd().split('\n')
  expect(lines.map((line) => parseTraceLine(line).timeNs)).toEqual(Array.from({ length: 20_000 }, (_, i) => i))
})

it('writes a Perfetto trace as valid JSON, and replaces an existing file', () => {
  const path = join(folder, 'c.json')
  for (const times of [[1, 2, 3], [4]]) {
    const trace = new TraceFile({ path, format: 'perfetto' })
    times.forEach((timeNs) => trace.sink(event(timeNs)))
    trace.close()
  }
  const events = JSON.parse(readFileSync(path, 'utf8')) as { ph: string }[]
  expect(events.filter(({ ph }) => ph === 'i')).toHaveLength(1)
})

it('throws at once if the file cannot be created', () => {
  expect(() => new TraceFile({ path: join(folder, 'none', 'a'), format: 'text' })).toThrow(/ENOENT.*none\/a/)
})
