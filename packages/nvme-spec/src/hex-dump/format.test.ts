import { expect, test } from 'vitest'
import { parseHexDump } from './parse.js'
import { formatHexDump } from './format.js'

const BYTES = Buffer.from('02001204207c3e22410000ff0a0d7e7f4220', 'hex')

test('formats bytes as hexdump -C of util-linux 2.38 does', () => {
  expect(formatHexDump(BYTES)).toEqual([
    '00000000  02 00 12 04 20 7c 3e 22  41 00 00 ff 0a 0d 7e 7f  |.... |>"A.....~.|',
    '00000010  42 20                                             |B |',
  ])
  expect(formatHexDump(new Uint8Array(0))).toEqual([])
})

test('rejects bytes that are not a Uint8Array, and an offset that is not an integer of at least 0', () => {
  expect(() => formatHexDump(new ArrayBuffer(3) as never)).toThrow(new TypeError('bytes: expected a Uint8Array'))
  for (const offset of [-1, 0.5, NaN, '16' as never])
    expect(() => formatHexDump(BYTES, offset)).toThrow(
      new RangeError(`startOffset: expected an integer of at least 0, got ${offset}`),
    )
})

test('writes dumps that parseHexDump reads, from any offset and with repeated lines', () => {
  const bytes = Buffer.concat([BYTES, Buffer.alloc(100), Buffer.from('\u001b[31m')])
  const lines = formatHexDump(bytes, 0x1_0000)
  expect(Buffer.from(parseHexDump(lines.join('\n'), 'stdin')!)).toEqual(bytes)
  expect(lines.filter((line) => line.length > 78)).toEqual([])
})
