import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { oneCell } from './bench-results.js'
import { gpunvme, json, scratch } from './gpunvme.js'

const cwd = scratch()
const at = (name: string) => join(cwd, name)

beforeAll(() => {
  writeFileSync(at('results.json'), JSON.stringify(oneCell()))
  writeFileSync(at('newer.json'), JSON.stringify({ ...oneCell(), schema: 'gpunvme.bench/2' }))
  writeFileSync(at('load.json'), '{"schema":"gpunvme.load/1"}')
  writeFileSync(at('empty.json'), '')
  writeFileSync(at('half.json'), JSON.stringify(oneCell()).slice(0, 500))
  mkdirSync(at('folder'))
})

test('report writes a page beside the results, and prints the headline', async () => {
  const { code, stdout, stderr } = await gpunvme(['bench', 'report', 'results.json', '--csv', 'repeats.csv'], { cwd })
  expect({ code, stderr }).toEqual({ code: 0, stderr: 'Wrote results.html\nWrote repeats.csv\n' })
  expect(stdout).toMatch(/^In modelled time, engine host reads 3\.\d+ GB\/s from a simulated WD PC SN740: /)
  expect(readFileSync(at('results.html'), 'utf8')).toMatch(/^<!doctype html>\n[^]*<\/html>\n$/)
  expect(readFileSync(at('repeats.csv'), 'utf8')).toMatch(/^started_at,[^]*\r\n$/)
})

test('bench report --json prints the best cell and the written files', async () => {
  const ended = await gpunvme(['bench', 'report', 'results.json', '-o', 'page.html', '--json', '-q'], { cwd })
  expect({ code: ended.code, stderr: ended.stderr }).toEqual({ code: 0, stderr: '' })
  expect(json(ended)).toMatchObject({
    schema: 'gpunvme.report/1',
    files: { html: 'page.html' },
    time: 'modelled',
    best: { source: 'host', rw: 'read', pattern: 'sequential', blockBytes: 131_072, depth: 32, jobs: 1 },
    cells: 1,
    measuredCells: 1,
  })
})

test('bench report --markdown prints a summary and writes no file', async () => {
  const before = readdirSync(cwd)
  const { code, stdout, stderr } = await gpunvme(['bench', 'report', 'results.json', '--markdown'], { cwd })
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(/^\*\*In modelled time, engine host reads [^]*\| Sequential reads \| host \|/)
  expect(readdirSync(cwd)).toEqual(before)
})

test.each([
  ['a missing file', ['bench', 'report', 'missing.json'], 3, ['missing.json', 'no such file']],
  ['an empty file', ['bench', 'report', 'empty.json'], 7, ['the file is empty', 'Try: gpunvme bench -o results.json']],
  ['a truncated file', ['bench', 'report', 'half.json'], 7, ['Cannot read half.json', 'invalid JSON']],
  ['the output of another verb', ['bench', 'report', 'load.json'], 7, ['it is the output of gpunvme load']],
  [
    'results of a newer schema',
    ['bench', 'report', 'newer.json'],
    7,
    ['version 2', 'Try: use the gpunvme that wrote the file'],
  ],
  ['the results as output file', ['bench', 'report', 'results.json', '-o', './results.json'], 2, ['is used twice']],
  ['a folder as output file', ['bench', 'report', 'results.json', '-o', 'folder'], 2, ['folder is a directory']],
  ['stdin without an output file', ['bench', 'report', '-'], 2, ['Try: use -o page.html']],
  [
    '--markdown with --json',
    ['bench', 'report', 'results.json', '--markdown', '--json'],
    2,
    ['--markdown and --json are mutually exclusive'],
  ],
] as const)('report rejects %s, and leaves no file', async (_, args, code, texts) => {
  const before = readdirSync(cwd)
  const ended = await gpunvme(args, { cwd })
  for (const text of texts) expect(ended.stderr).toContain(text)
  expect(ended.stderr).not.toMatch(/^ {4}at /m) // no stack
  expect(ended.code).toBe(code)
  expect(readdirSync(cwd)).toEqual(before)
  expect(existsSync(at('empty.html'))).toBe(false)
})
