import { expect, test } from 'vitest'
import { segments } from '../../test/segments.js'
import { firstBreakInPage, prpProblem, segmentAt } from './segments.js'

test('the segment of a byte is the last that begins at it or before it', () => {
  const { segments: three } = segments([0x1000, 512], [0x9000, 1024], [0x5000, 512])
  expect([0, 511, 512, 1535, 1536, 2047].map((byte) => segmentAt(three, byte))).toEqual([0, 0, 1, 1, 2, 2])
  expect(segmentAt(segments([0x1000, 512]).segments, 511)).toBe(0)
})

test('PRPs describe segments that meet at ends of pages, from an offset in the first and to one in the last', () => {
  const memory = segments([0x1e00, 512], [0x9000, 8192], [0x5000, 512])
  expect(prpProblem(memory, 0, memory.lengthBytes, 4096)).toBeUndefined()
  expect(firstBreakInPage(memory.segments, 0, memory.lengthBytes, 4096)).toBeUndefined()
})

test('PRPs cannot describe a segment that begins inside a page (Base 2.1 §4.3.1)', () => {
  const memory = segments([0x1000, 4096], [0x9200, 4096])
  expect(prpProblem(memory, 0, 4608, 4096)).toBe(
    'segments that meet at ends of 4096-byte pages, as PRPs require, got one at 0x9200',
  )
})

test('nor one that ends inside a page with another to follow', () => {
  const memory = segments([0x1000, 512], [0x9000, 4096])
  expect(prpProblem(memory, 0, 1024, 4096)).toContain('got one at 0x9000')
  expect(firstBreakInPage(memory.segments, 0, 1024, 4096)).toEqual({
    offsetBytes: 512,
    iova: 0x9000,
    lengthBytes: 4096,
  })
})

test('what the transfer does not reach is of no matter', () => {
  const memory = segments([0x1000, 512], [0x9000, 4096], [0x5000, 512])
  expect(prpProblem(memory, 0, 512, 4096)).toBeUndefined()
  expect(prpProblem(memory, 512, 4608, 4096)).toBeUndefined()
})

test('pages are of the length that was asked for', () => {
  const memory = segments([0x1000, 4096], [0x9000, 4096])
  expect(prpProblem(memory, 0, 8192, 4096)).toBeUndefined()
  expect(prpProblem(memory, 0, 8192, 8192)).toContain('8192-byte pages')
})
