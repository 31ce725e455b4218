import { expect, test } from 'vitest'
import { oneCell, sweep } from '../../test/bench-results.js'
import { HOSTILE, hostileTexts, mixedFailures } from '../../test/bench-shapes.js'
import { formatCsv } from './csv.js'

/** Parses CSV by RFC 4180, section 2. */
function parse(csv: string): string[][] {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n|$)/y
  const rows: string[][] = [[]]
  while (field.lastIndex < csv.length) {
    const [, quoted, plain, end] = field.exec(csv) ?? [undefined, undefined, undefined, undefined]
    if (end === undefined) throw new Error('no CSV')
    rows.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end === '\r\n') rows.push([])
  }
  return rows.filter((row) => row.length > 0)
}

test('formatCsv has a row for each repeat, with one field for each column', () => {
  for (const results of [oneCell(), sweep(), mixedFailures(), hostileTexts()]) {
    const [names, ...rows] = parse(formatCsv(results))
    const repeats = results.cells.reduce((sum, cell) => sum + Math.max(1, cell.repeats.length), 0)
    const missing = results.sources.filter((source) => source.missing !== undefined).length
    expect(rows).toHaveLength(repeats + missing)
    for (const row of rows) expect(row).toHaveLength(names!.length)
  }
})

test('a row has the measured numbers of its repeat', () => {
  const [names = [], row = []] = parse(formatCsv(oneCell()))
  const { bytes, commands, seconds } = oneCell().cells[0]!.repeats[0]!
  const value = (name: string) => row[names.indexOf(name)]
  expect(['source', 'rw', 'block_bytes', 'depth', 'repeat', 'problem'].map(value)).toEqual([
    ...['host', 'read', '131072', '32', '1', ''],
  ])
  expect(['bytes', 'commands', 'seconds', 'bytes_per_second'].map((name) => Number(value(name)))).toEqual([
    ...[bytes, commands, seconds, bytes / seconds],
  ])
})

test('the last field has the reason of refused, failed and missing cells', () => {
  const rows = parse(formatCsv(mixedFailures()))
  const reasons = new Set(rows.map((row) => row.at(-1)))
  expect(reasons).toContain('libcufile.so.0 is not installed')
  expect(reasons).toContain('1 MiB is more than one command may transfer: MDTS is 512 KiB')
  expect(reasons).toContain('the drive counted 12 commands, 53,612 were asked for')
  expect(reasons).toContain('the kernel did not execute')
})

test('texts of a drive are neither formulas nor control characters', () => {
  for (const model of HOSTILE) {
    const [, row = []] = parse(formatCsv({ ...oneCell(), drive: { ...oneCell().drive, model } }))
    expect(row[3]).toMatch(/^[^=+\-@\t\r]/)
    expect(row[3]).not.toMatch(/\p{Cc}|\p{Cf}/u)
  }
})
