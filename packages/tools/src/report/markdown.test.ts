import { expect, test } from 'vitest'
import { oneCell, sweep } from '../../test/bench-results.js'
import { HOSTILE, hostileTexts, mixedFailures, nothingMeasured } from '../../test/bench-shapes.js'
import { formatMarkdown } from './markdown.js'

test('formatMarkdown begins with the claim, and has a table of settings by sources', () => {
  const lines = formatMarkdown(sweep()).split('\n')
  expect(lines[0]).toMatch(/^\*\*Engine cuda reads 3\.\d+ ± 0\.\d+ GB\/s from WD PC SN740 SDDQNQD-512G: .*\*\*$/)
  const table = lines.filter((line) => line.startsWith('|'))
  expect(table[0]).toBe('| Sequential reads | cuda | cpu-kernel | host | io\\_uring (baseline) |')
  expect(table[1]).toBe('|:--|--:|--:|--:|--:|')
  expect(table).toHaveLength(2 + 36)
})

test('formatMarkdown lists what was not measured', () => {
  expect(formatMarkdown(mixedFailures())).toContain('- cuFile, all of it: libcufile.so.0 is not installed (apt install')
  expect(formatMarkdown(nothingMeasured())).toMatch(/^\*\*Nothing was measured/)
  expect(formatMarkdown(sweep())).not.toContain('Not measured')
})

test('formatMarkdown escapes texts of a drive', () => {
  for (const name of HOSTILE) {
    const source = { ...oneCell().sources[0]!, name: name.slice(0, 64) }
    const cells = oneCell().cells.map((cell) => ({ ...cell, source: source.name }))
    const text = formatMarkdown({ ...oneCell(), sources: [source], cells, drive: { ...oneCell().drive, model: name } })
    const bare = text.replace(/\\[\\`*_[\]<>|~&]/g, '')
    const notOurs = bare.replace(/<\/?sub>|^>/gm, '')
    expect(notOurs).not.toMatch(/[<>`[\]_~&]/)
    for (const row of bare.split('\n').filter((line) => line.startsWith('|'))) expect(row.split('|')).toHaveLength(4)
  }
  expect(
    formatMarkdown(hostileTexts())
      .split('\n')
      .filter((line) => /^\s*(#|<script|<img)/.test(line)),
  ).toEqual([])
})
