import { expect, test } from 'vitest'
import { parseHexDump } from '@gpunvme/nvme-spec/hex-dump'
import { HexDumper } from './hex-dumper.js'

function dump(bytes: Uint8Array, { at = 0, squeeze = true, pieces = [bytes.length] } = {}): string[] {
  const dumper = new HexDumper(at, { squeeze })
  const lines: string[] = []
  let from = 0
  for (const length of pieces) {
    const lent = bytes.slice(from, from + length)
    lines.push(...dumper.add(lent))
    // The caller reuses this memory.
    lent.fill(0xee)
    from += length
  }
  return [...lines, ...dumper.end()]
}

test('repeated lines are squeezed to a star, as by hexdump -C', () => {
  const bytes = new Uint8Array(70)
  bytes.set(Buffer.from('Hello'), 50)
  // printf '%s' … | hexdump -C
  expect(dump(bytes)).toEqual([
    '00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|',
    '*',
    '00000030  00 00 48 65 6c 6c 6f 00  00 00 00 00 00 00 00 00  |..Hello.........|',
    '00000040  00 00 00 00 00 00                                 |......|',
    '00000046',
  ])
})

test('the output does not depend on the length of pieces', () => {
  const bytes = Uint8Array.from({ length: 200 }, (_, i) => (i < 100 ? 7 : i))
  for (const pieces of [[200], [1, 199], [16, 16, 168], [33, 3, 0, 100, 64]]) {
    expect(dump(bytes, { pieces })).toEqual(dump(bytes))
  }
})

test('parseHexDump inverts a dump without squeezing at any offset', () => {
  const bytes = Uint8Array.from({ length: 333 }, (_, i) => (i < 200 ? 0 : (i * 7) & 0xff))
  for (const at of [0, 5, 0xffff_fff0, 2 ** 40 - 7]) {
    const lines = dump(bytes, { at, squeeze: false, pieces: [100, 233] })
    expect(parseHexDump(lines.join('\n'), 'dump')).toEqual(bytes)
  }
})
