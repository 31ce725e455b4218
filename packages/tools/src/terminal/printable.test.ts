import { expect, test } from 'vitest'
import { printable, typedName } from './printable.js'

test('printable escapes what a terminal would interpret, and bytes that were not UTF-8', () => {
  expect(printable('a\u001b[31m\u202e\ufffdz')).toBe('a\\u{1b}[31m\\u{202e}\\u{fffd}z')
})

test('typedName reads a name as printable shows it', () => {
  for (const name of ['chat', 'a\u001b[31mb', 'left\u202eright', 'bad\ufffd', 'two\nlines', 'C:\\users'])
    expect(typedName(printable(name))).toBe(name)
})
