import { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import {
  addRangeOptions,
  blocksOf,
  checkRangeFlags,
  describeBlocks,
  RangeOutsideError,
  resolveRange,
  type RangeFlags,
} from './byte-range.js'

/** 1000 blocks of 4096 bytes. */
const NAMESPACE = { nsid: 1, blocks: 1000, blockBytes: 4096, capacityBytes: 4_096_000 }

function parse(...words: string[]): RangeFlags {
  const command = new Command('read').exitOverride().configureOutput({ outputError: () => undefined })
  addRangeOptions(command, { start: 'where', amount: 'how much' })
  return command.parse(words, { from: 'user' }).opts<RangeFlags>()
}

const range = (...words: string[]) => {
  const { offsetBytes, lengthBytes } = resolveRange(parse(...words), NAMESPACE, 4096)
  return [offsetBytes, lengthBytes]
}

test.each([
  [[], [0, 4096]],
  [
    ['--lba', '0x10'],
    [65_536, 4096],
  ],
  [
    ['--lba', '16', '--blocks', '2'],
    [65_536, 8192],
  ],
  [
    ['--blocks', 'all'],
    [0, 4_096_000],
  ],
  [
    ['--lba', '999', '--blocks', 'all'],
    [4_091_904, 4096],
  ],
  [
    ['--offset', '1MiB', '--length', '100'],
    [1_048_576, 100],
  ],
  [
    ['--offset', '0x7', '--length', '0x9'],
    [7, 9],
  ],
  [
    ['--offset', '5', '--length', 'all'],
    [5, 4_095_995],
  ],
])('resolveRange converts %j to bytes', (words, expected) => {
  expect(range(...words)).toEqual(expected)
})

test.each([
  ['--lba', '-1'],
  ['--lba', '1.5'],
  ['--lba', '1e3'],
  ['--lba', '9007199254740993'],
  ['--blocks', '0'],
  ['--blocks', 'some'],
  ['--offset', '1G'],
  ['--length', '0'],
])('the option %s rejects %s', (...words) => {
  expect(() => parse(...words)).toThrow('Expected a')
})

test('checkRangeFlags rejects ranges in both blocks and bytes', () => {
  expect(() => checkRangeFlags(parse('--lba', '1', '--length', '5'))).toThrow(
    'Ranges in blocks and in bytes are mutually exclusive',
  )
  expect(() => checkRangeFlags(parse('--offset', '1', '--blocks', '5'))).toThrow(
    'Ranges in blocks and in bytes are mutually exclusive',
  )
  expect(() => checkRangeFlags(parse('--offset', '1', '--length', '5'))).not.toThrow()
})

describe('resolveRange rejects a range beyond the namespace,', () => {
  test.each([
    [['--lba', '1000'], 'Bytes 4096000 to 4100095'],
    [['--lba', '999', '--blocks', '2'], 'Bytes 4091904 to 4100095'],
    [['--lba', '1000', '--blocks', 'all'], 'Bytes 4096000 to 4096000'],
    [['--lba', '9007199254740991'], 'Bytes '],
    [['--length', '4096001'], 'Bytes 0 to 4096000'],
  ])('%j, with the size of the namespace', (words, headline) => {
    expect(() => range(...words)).toThrow(RangeOutsideError)
    expect(() => range(...words)).toThrow(headline)
    expect(() => range(...words)).toThrow(
      'it has 1000 blocks of 4096 bytes: 4096000 bytes, 3.91 MiB\n  its last LBA is 0x3e7',
    )
  })
})

test('blocksOf returns all blocks that overlap a range', () => {
  expect(blocksOf({ offsetBytes: 4095, lengthBytes: 2 }, 4096)).toEqual({ slba: 0, blocks: 2 })
  expect(describeBlocks({ offsetBytes: 4096, lengthBytes: 4096 }, 4096)).toBe('LBA 0x1, 1 block of 4096 bytes')
  expect(describeBlocks({ offsetBytes: 4096, lengthBytes: 4097 }, 4096)).toBe('LBAs 0x1 to 0x2, 2 blocks of 4096 bytes')
})
