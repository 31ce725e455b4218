import { expect, test } from 'vitest'
import { parseHexDump } from './parse.js'

const parsed = (text: string) => {
  const bytes = parseHexDump(text, 'stdin')
  return bytes && Buffer.from(bytes).toString('hex')
}

// Output of each tool for the same 18 bytes: xxd 2022-01-14, util-linux 2.38, coreutils 9.1; the dump of nvme-cli
// follows the format strings of its function d().
test.each([
  [
    'xxd',
    `00000000: 0200 1204 207c 3e22 4100 00ff 0a0d 7e7f  .... |>"A.....~.
00000010: 4220                                     B 
`,
  ],
  [
    'xxd -g1 -u, copied without the blanks at the ends of lines',
    `00000000: 02 00 12 04 20 7C 3E 22 41 00 00 FF 0A 0D 7E 7F  .... |>"A.....~.
00000010: 42 20                                            B`,
  ],
  [
    'hexdump -C',
    `00000000  02 00 12 04 20 7c 3e 22  41 00 00 ff 0a 0d 7e 7f  |.... |>"A.....~.|
00000010  42 20                                             |B |
00000012
`,
  ],
  [
    'od -A x -t x1z',
    `000000 02 00 12 04 20 7c 3e 22 41 00 00 ff 0a 0d 7e 7f  >.... |>"A.....~.<
000010 42 20                                            >B <
000012
`,
  ],
  ['od -A x -t x1', '000000 02 00 12 04 20 7c 3e 22 41 00 00 ff 0a 0d 7e 7f\r\n000010 42 20\r\n000012\r\n'],
  [
    'nvme get-log',
    `Device:nvme0 log-id:2 namespace-id:0xffffffff
       0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f
0000: 02 00 12 04 20 7c 3e 22 41 00 00 ff 0a 0d 7e 7f ".....|>"A.....~."
0010: 42 20                                            "B.."
`,
  ],
])('reads the output of %s', (_, text) => {
  expect(parsed(text)).toBe('02001204207c3e22410000ff0a0d7e7f4220')
})

test('reads an indented dump without taking its offsets as bytes', () => {
  expect(parsed('    000000 02 00 12 04\n    000004 7c\n    000005\n')).toBe('020012047c')
  expect(parsed('  00000000: 0200 1204  ....\n  00000004: 7c         |\n')).toBe('020012047c')
  expect(() => parsed('  0000000 0002 0412\n  0000004\n')).toThrow('stdin is a dump of words')
  expect(parsed(' 02001204 00000001\n 02001205 00000001\n')).toBeUndefined()
})

test('accepts a dump that starts at any offset', () => {
  expect(parsed('00000ff0: 0102 03\n00000ff3: 04\n')).toBe('01020304')
})

test.each([
  ['plain digits', '0200120420\n7c3e\n'],
  ['dwords in lines that rise', '00000001 00000002\n00000003 00000004\n'],
  ['bytes between colons', '02:00:12:04'],
  ['one line of groups', '02001204 01 00 00 00'],
  ['prose', 'unsigned char a[] = {'],
  ['blanks', ' \n\n'],
])('returns undefined for %s', (_, text) => {
  expect(parsed(text)).toBeUndefined()
})

test.each([
  ['a gap', '00000000: 0102\n00000010: 0304\n', 'stdin, line 2: expected offset 2 in hexadecimal, got 00000010'],
  ['decimal offsets', `0000000${' 00'.repeat(16)}\n0000016 01\n0000017\n`, 'expected offset 10 in hexadecimal'],
  ['an end that is missing', '000000 01 02\n000012\n', 'stdin, line 2: expected offset 2 in hexadecimal, got 000012'],
  ['lines left out', '00000000  00 00\n*\n00000010\n', 'stdin, line 2: repeated lines are omitted\n'],
  ['other lines in it', '00000000: 0102\nhello\n', 'stdin, line 2: expected an offset and bytes in hexadecimal'],
  ['xxd -e -g2', '00000000: 6261 6463  abcd\n', 'stdin, line 1: the text does not match the bytes'],
  ['hexdump', '0000000 0002 0412\n*\n0000020\n', 'stdin is a dump of words, whose bytes may be swapped'],
  ['od', '0000000 000002 002022\n0000004\n', 'stdin is a dump of words'],
  ['od -A x -t x4', '000000 04120002\n000004\n', 'stdin is a dump of words'],
])('rejects %s', (_, text, message) => {
  expect(() => parseHexDump(text, 'stdin')).toThrow(message)
  expect(() => parseHexDump(text, 'stdin')).toThrow('`hexdump -v -C`')
})
