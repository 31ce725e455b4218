import { expect, test } from 'vitest'
import { HexDumpError, parseHexDigits, readDumpBytes, readDumpText } from './index.js'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test.each([
  ['digits in groups', '0200 1204\n7c3e', '020012047c3e'],
  ['digits after 0x, among them a single digit', '0x2, 0x00,0x1204', '02001204'],
  ['bytes between colons', '02:00:12', '020012'],
  ['digits with underscores', '0x0200_1204', '02001204'],
])('reads %s', (_, text, expected) => {
  expect(hex(parseHexDigits(text))).toBe(expected)
  expect(hex(readDumpText(text))).toBe(expected)
})

test('returns no bytes for no digits, but rejects a dump without bytes', () => {
  expect(hex(parseHexDigits(' \n'))).toBe('')
  for (const read of [() => readDumpText(' \n', 'stdin'), () => readDumpBytes(Buffer.of(), 'stdin')]) {
    expect(read).toThrow(HexDumpError)
    expect(read).toThrow('Expected hexadecimal digits in stdin, got none')
  }
})

test.each([
  ['a word', 'hello', "Expected hexadecimal digits in the text, got 'hello'"],
  ['an odd number of digits', '0200 1', "Expected pairs of hexadecimal digits in the text, got 1 digit in '1'"],
  ['a prefix alone', '0x', "Expected pairs of hexadecimal digits in the text, got 0 digits in '0x'"],
  ['a terminal escape sequence', '\u001b[2J', "Expected hexadecimal digits in the text, got '\\u001b[2J'"],
])('rejects %s', (_, text, message) => {
  expect(() => parseHexDigits(text)).toThrow(HexDumpError)
  expect(() => parseHexDigits(text)).toThrow(message)
})

test('reads text of digits or a dump in UTF-8 and in UTF-16, and returns binary data unchanged', () => {
  const dump = '00000000  02 00 12 04                                       |....|\n00000004\n'
  for (const text of ['02001204', dump]) {
    expect(hex(readDumpBytes(Buffer.from(text)))).toBe('02001204')
    expect(hex(readDumpBytes(Buffer.from(`\ufeff${text}`)))).toBe('02001204')
    expect(hex(readDumpBytes(Buffer.from(`\ufeff${text}`, 'utf16le')))).toBe('02001204')
  }
  // Neither is text: the first has a control character, the second is invalid UTF-8.
  expect(hex(readDumpBytes(Uint8Array.of(0x30, 0x00)))).toBe('3000')
  expect(hex(readDumpBytes(Uint8Array.of(0x30, 0xff)))).toBe('30ff')
})

test('rejects a dump with colours or with bytes that are not UTF-8: its digits are not data', () => {
  const coloured = Buffer.from('\x1b[1;32m00000000\x1b[0m: 8680 8680 5331 2020  ..S1  \n')
  const latin1 = Buffer.from('00000000: 8680 8680 5331 2020  ..S1 \xe9\n', 'latin1')
  for (const dump of [coloured, latin1])
    expect(() => readDumpBytes(dump, 'id.txt')).toThrow('Expected plain text in id.txt, got a hex dump with colours')
})

test('names the source in errors', () => {
  expect(() => readDumpBytes(Buffer.from('prose'), 'id.txt')).toThrow("in id.txt, got 'prose'")
  expect(() => readDumpText('00000000: 0102\n00000010: 0304\n', 'id.txt')).toThrow('id.txt, line 2')
})
