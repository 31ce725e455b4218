import type { Option } from 'commander'
import { describe, expect, test } from 'vitest'
import { counts, dataPattern, seconds, sizes, words } from './sweep-options.js'

const parse = (option: Option, text: string): unknown => option.parseArg!(text, undefined)

test('lists are separated by commas, and duplicates are removed', () => {
  expect(parse(sizes('--bs <sizes>', ''), '4KiB,128KiB,4096')).toEqual([4096, 131_072])
  expect(parse(counts('--qd <depths>', '', 4095), '1, 32')).toEqual([1, 32])
  expect(parse(words('--rw <kinds>', '', ['read', 'write']), 'write,read')).toEqual(['write', 'read'])
})

test('times may have fractions, and patterns are hexadecimal bytes', () => {
  expect(parse(seconds('--time <seconds>', '', 0.001), '0.25')).toBe(0.25)
  expect(parse(dataPattern('--pattern <bytes>', ''), 'random')).toBe('random')
  expect(parse(dataPattern('--pattern <bytes>', ''), '0xDEADbeef')).toEqual(Uint8Array.of(0xde, 0xad, 0xbe, 0xef))
})

describe('sweep options reject invalid values with the expected format:', () => {
  test.each([
    [sizes('--bs <sizes>', ''), '4KiB,', /multiples of 512 bytes/],
    [sizes('--bs <sizes>', ''), '100', /multiples of 512 bytes/],
    [sizes('--bs <sizes>', ''), '4K', /multiples of 512 bytes/],
    [counts('--qd <depths>', '', 64), '0', /from 1 to 64/],
    [counts('--qd <depths>', '', 64), '65', /from 1 to 64/],
    [counts('--qd <depths>', '', 64), '1;2', /from 1 to 64/],
    [words('--rw <kinds>', '', ['read', 'write']), 'trim', /read, write/],
    [seconds('--time <seconds>', '', 0.001), '0', /0.001 to 86400 seconds/],
    [seconds('--time <seconds>', '', 0), '-1', /0 to 86400 seconds/],
    [seconds('--time <seconds>', '', 0), '1e9', /0 to 86400 seconds/],
    [dataPattern('--pattern <bytes>', ''), 'seq', /--rw sets the access pattern/],
    [dataPattern('--pattern <bytes>', ''), '0x123', /0xdeadbeef/],
  ])('case %#, $1', (option, text, expected) => {
    expect(() => parse(option, text)).toThrow(expected)
  })
})
