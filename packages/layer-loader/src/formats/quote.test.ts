import { expect, test } from 'vitest'
import { concat, ggufHead, info, zeros } from '../../test/formats/bytes.js'
import { memorySource, openModel } from './index.js'
import { quote } from './quote.js'

test.each([
  ['blk.0.attn_q.weight', '"blk.0.attn_q.weight"'],
  ['say "hi"', String.raw`"say \"hi\""`],
  ['\x1b[2J', String.raw`"\u001b[2J"`],
  ['\x9b2J', String.raw`"\u{9b}2J"`],
  ['\u202egnp', String.raw`"\u{202e}gnp"`],
  ['x'.repeat(81), `"${'x'.repeat(80)}…"`],
])('quote(%j) is %s', (name, shown) => {
  expect(quote(name)).toBe(shown)
})

test('error messages escape control sequences in names', async () => {
  const bytes = concat(ggufHead(1, 0), info('\x1b[31m', [0], 0, 0), zeros(64))
  await expect(openModel(memorySource(bytes))).rejects.toThrow(String.raw`tensor "\u001b[31m" has the shape`)
})
