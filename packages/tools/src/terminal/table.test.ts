import { expect, test } from 'vitest'
import { printable } from './printable.js'
import { formatTable, wrap } from './table.js'

test('formatTable aligns columns without trailing blanks', () => {
  const lines = formatTable(
    [{ title: 'LAYER' }, { title: 'BYTES', align: 'right' }, { title: 'NOTE' }],
    [
      ['embedding', '5 MiB', ''],
      ['layer 0', '12.25 MiB', 'x'],
    ],
  )
  expect(lines).toEqual(['LAYER          BYTES  NOTE', 'embedding      5 MiB', 'layer 0    12.25 MiB  x'])
})

test('wrap folds between words, and does not split long words', () => {
  expect(wrap('CC=0x0 { EN=1 CSS=NVM }', 12, '  ')).toEqual(['CC=0x0 {', '  EN=1', '  CSS=NVM }'])
  expect(wrap('short', 80, '  ')).toEqual(['short'])
  expect(wrap('unbreakable words', 4, '')).toEqual(['unbreakable', 'words'])
})

test('printable escapes control characters and limits the length', () => {
  expect(printable('a\u001b[31mb\u202ec\nd')).toBe('a\\u{1b}[31mb\\u{202e}c\\u{a}d')
  expect(printable('x'.repeat(300))).toHaveLength(201)
})
