import { describe, expect, test } from 'vitest'
import {
  array,
  ascii,
  concat,
  entry,
  ggufHead,
  info,
  padTo,
  text,
  u32,
  u64,
  u8,
  zeros,
} from '../../test/formats/bytes.js'
import { GgufError, memorySource, openModel, type FormatLimits, type GgufProblem } from './index.js'

interface Malformed {
  readonly title: string
  readonly bytes: Uint8Array
  readonly problem: GgufProblem
  readonly at: number
  readonly limits?: Partial<FormatLimits>
}

/** Offsets in `entry('k', ...)` at byte 24: the type at 24 + 8 + 1, the value at 24 + 8 + 1 + 4. */
const TYPE = 33
const VALUE = 37

/** Offsets in `info('a', [n], ...)`. Without metadata the tensor table starts at 24 too. */
const DIMENSIONS = 33
const SHAPE = 37
const OFFSET = 49

const oneEntry = (bytes: Uint8Array): Uint8Array => concat(ggufHead(0, 1), bytes, zeros(64))
const oneTensor = (bytes: Uint8Array): Uint8Array => concat(ggufHead(1, 0), bytes, zeros(128))

const malformed: readonly Malformed[] = [
  { title: 'version 0', bytes: ggufHead(0, 0, 0), problem: 'VERSION', at: 4 },
  { title: 'version 1, whose counts have 32 bits', bytes: ggufHead(0, 0, 1), problem: 'VERSION', at: 4 },
  { title: 'version 4', bytes: ggufHead(0, 0, 4), problem: 'VERSION', at: 4 },
  { title: 'a big-endian file', bytes: ggufHead(0, 0, 0x0300_0000), problem: 'BIG_ENDIAN', at: 4 },
  { title: 'only the magic', bytes: ascii('GGUF'), problem: 'TRUNCATED', at: 4 },
  {
    title: 'a file that ends inside its tensor count',
    bytes: ggufHead(0, 0).subarray(0, 12),
    problem: 'TRUNCATED',
    at: 8,
  },
  { title: 'a tensor count of 2^64 - 1', bytes: ggufHead(2n ** 64n - 1n, 0), problem: 'TOO_LARGE', at: 8 },
  { title: 'a tensor count above the limit', bytes: ggufHead(1_000_001, 0), problem: 'LIMIT', at: 8 },
  {
    title: 'a tensor count that exceeds the file',
    bytes: ggufHead(1_000_000, 0),
    problem: 'TRUNCATED',
    at: 8,
  },
  { title: 'a metadata count of 2^63', bytes: ggufHead(0, 2n ** 63n), problem: 'TOO_LARGE', at: 16 },
  { title: 'a metadata count above the limit', bytes: ggufHead(0, 100_001), problem: 'LIMIT', at: 16 },
  {
    title: 'a metadata count that exceeds the file',
    bytes: ggufHead(0, 100_000),
    problem: 'TRUNCATED',
    at: 16,
  },

  { title: 'an empty key', bytes: oneEntry(entry('', 0, u8(1))), problem: 'KEY', at: 24 },
  { title: 'a key of 65,536 bytes', bytes: oneEntry(entry('k'.repeat(65_536), 0, u8(1))), problem: 'KEY', at: 24 },
  { title: 'a key that is not UTF-8', bytes: oneEntry(entry('\xff', 0, u8(1))), problem: 'KEY', at: 24 },
  { title: 'a key longer than the file', bytes: oneEntry(u64(1000)), problem: 'TRUNCATED', at: 32 },
  {
    title: 'the same key twice',
    bytes: concat(ggufHead(0, 2), entry('k', 0, u8(1)), entry('k', 0, u8(2))),
    problem: 'DUPLICATE_KEY',
    at: 38,
  },
  { title: 'the metadata type 13', bytes: oneEntry(entry('k', 13)), problem: 'VALUE_TYPE', at: TYPE },
  {
    title: 'an array of the metadata type 13',
    bytes: oneEntry(entry('k', 9, array(13, 1))),
    problem: 'VALUE_TYPE',
    at: VALUE,
  },
  { title: 'a bool of 2', bytes: oneEntry(entry('k', 7, u8(2))), problem: 'VALUE', at: VALUE },
  {
    title: 'a value that the file ends inside',
    bytes: concat(ggufHead(0, 1), entry('k', 10, u32(0))),
    problem: 'TRUNCATED',
    at: VALUE,
  },
  {
    title: 'a string longer than the file',
    bytes: oneEntry(entry('k', 8, u64(1000))),
    problem: 'TRUNCATED',
    at: VALUE + 8,
  },
  {
    title: 'a string of 2^64 - 1 bytes',
    bytes: oneEntry(entry('k', 8, u64(2n ** 64n - 1n))),
    problem: 'TOO_LARGE',
    at: VALUE,
  },
  {
    title: 'an array of more scalars than fit',
    bytes: oneEntry(entry('k', 9, array(4, 2n ** 52n))),
    problem: 'TRUNCATED',
    at: VALUE + 12,
  },
  {
    title: 'an array of more strings than fit',
    bytes: oneEntry(entry('k', 9, array(8, 10_000))),
    problem: 'TRUNCATED',
    at: VALUE + 12,
  },
  {
    title: 'a long array whose second string is longer than the file',
    bytes: concat(ggufHead(0, 1), entry('k', 9, array(8, 2000), text('ab'), u64(99_999)), zeros(16_000)),
    problem: 'TRUNCATED',
    at: VALUE + 12 + 10 + 8,
  },
  {
    title: 'arrays nested deeper than the limit',
    bytes: oneEntry(entry('k', 9, ...Array.from({ length: 9 }, () => array(9, 1)))),
    problem: 'NESTING',
    at: VALUE + 8 * 12,
  },
  {
    title: 'a string beyond the limit of kept metadata',
    bytes: oneEntry(entry('k', 8, text('0123456789'))),
    problem: 'LIMIT',
    at: VALUE,
    limits: { maxMetadataBytes: 10 },
  },
  {
    title: 'array items beyond the limit of kept metadata',
    bytes: oneEntry(entry('k', 9, array(0, 3), zeros(3))),
    problem: 'LIMIT',
    at: VALUE + 12 + 2,
    limits: { maxMetadataBytes: 1 + 2 * 16 },
  },
  {
    title: 'a header beyond the limit',
    bytes: oneEntry(entry('k', 9, array(8, 2), text('0123456789'), text('b'))),
    problem: 'LIMIT',
    at: VALUE + 12 + 8,
    limits: { maxGgufHeaderBytes: 66, maxArrayItems: 0 },
  },

  {
    title: 'general.alignment as uint64',
    bytes: oneEntry(entry('general.alignment', 10, u64(32))),
    problem: 'ALIGNMENT',
    at: 49,
  },
  {
    title: 'an alignment of 13',
    bytes: oneEntry(entry('general.alignment', 4, u32(13))),
    problem: 'ALIGNMENT',
    at: 53,
  },
  { title: 'an alignment of 0', bytes: oneEntry(entry('general.alignment', 4, u32(0))), problem: 'ALIGNMENT', at: 53 },

  { title: 'an empty tensor name', bytes: oneTensor(info('', [1], 0, 0)), problem: 'NAME', at: 24 },
  { title: 'a tensor name of 64 bytes', bytes: oneTensor(info('n'.repeat(64), [1], 0, 0)), problem: 'NAME', at: 24 },
  { title: 'a tensor name that is not UTF-8', bytes: oneTensor(info('\xc3', [1], 0, 0)), problem: 'NAME', at: 24 },
  { title: 'a tensor name with a NUL', bytes: oneTensor(info('a\0', [1], 0, 0)), problem: 'NAME', at: 24 },
  {
    title: 'the same tensor name twice',
    bytes: concat(ggufHead(2, 0), info('a', [1], 0, 0), info('a', [1], 0, 32), zeros(128)),
    problem: 'DUPLICATE_TENSOR',
    at: 57,
  },
  {
    title: 'five dimensions',
    bytes: oneTensor(info('a', [1, 1, 1, 1, 1], 0, 0)),
    problem: 'DIMENSIONS',
    at: DIMENSIONS,
  },
  { title: 'a dimension of zero', bytes: oneTensor(info('a', [0], 0, 0)), problem: 'SHAPE', at: SHAPE },
  { title: 'a dimension of 2^63', bytes: oneTensor(info('a', [2n ** 63n], 0, 0)), problem: 'TOO_LARGE', at: SHAPE },
  {
    title: 'dimensions whose product overflows',
    bytes: oneTensor(info('a', [2n ** 32n, 2n ** 32n], 0, 0)),
    problem: 'SHAPE',
    at: SHAPE,
  },
  {
    title: 'dimensions whose product overflows to a small number in 64 bits',
    bytes: oneTensor(info('a', [2n ** 32n, 2n ** 32n, 1], 77, 0)),
    problem: 'SHAPE',
    at: SHAPE,
  },
  {
    title: 'a length in bytes that overflows although the number of elements does not',
    bytes: oneTensor(info('a', [2n ** 52n], 28, 0)),
    problem: 'SHAPE',
    at: SHAPE,
  },
  { title: 'Q4_0 rows of 33 elements', bytes: oneTensor(info('a', [33], 2, 0)), problem: 'BLOCK', at: SHAPE },
  {
    title: 'Q4_0 rows of 16 elements, although two rows make a block',
    bytes: oneTensor(info('a', [16, 2], 2, 0)),
    problem: 'BLOCK',
    at: SHAPE,
  },
  {
    title: 'an offset that is not a multiple of 32',
    bytes: oneTensor(info('a', [1], 0, 8)),
    problem: 'OFFSET',
    at: OFFSET,
  },
  {
    title: 'an offset beyond the file',
    bytes: oneTensor(info('a', [1], 0, 2n ** 40n)),
    problem: 'TRUNCATED',
    at: OFFSET,
  },
  {
    title: 'an offset of 2^64 - 32',
    bytes: oneTensor(info('a', [1], 0, 2n ** 64n - 32n)),
    problem: 'TOO_LARGE',
    at: OFFSET,
  },
  {
    title: 'data without the last byte',
    bytes: padTo(64 + 3, concat(ggufHead(1, 0), info('a', [1], 0, 0))),
    problem: 'TRUNCATED',
    at: OFFSET,
  },
  {
    title: 'a tensor of unknown type that has no bytes before the end',
    bytes: padTo(64, concat(ggufHead(1, 0), info('a', [1], 77, 0))),
    problem: 'TRUNCATED',
    at: OFFSET,
  },
  {
    title: 'a tensor table that the file ends inside',
    bytes: concat(ggufHead(1, 0), info('a', [1, 1, 1, 1], 0, 0)).subarray(0, 60),
    problem: 'TRUNCATED',
    at: 53,
  },
  {
    title: 'tensors that share bytes',
    bytes: concat(ggufHead(2, 0), info('a', [9], 0, 0), info('b', [1], 0, 32), zeros(256)),
    problem: 'OVERLAP',
    at: 57 + 25,
  },
  {
    title: 'a tensor of unknown type at the same offset as another',
    bytes: concat(ggufHead(2, 0), info('a', [1], 77, 0), info('b', [1], 0, 0), zeros(256)),
    problem: 'OVERLAP',
    at: 57 + 25,
  },
]

test('rejects a later GGUF version with the advice to update, and version 1 with the advice to convert', async () => {
  for (const [version, next] of [
    [4, 'update gpunvme: this version does not know the format of the file'],
    [1, 'convert the model again with a current converter, which writes version 3'],
  ] as const)
    await expect(openModel(memorySource(ggufHead(0, 0, version)))).rejects.toMatchObject({ next })
})

describe('openModel rejects a malformed GGUF with code and position:', () => {
  test.each(malformed)('$problem at $at: $title', async ({ bytes, problem, at, limits }) => {
    const error = await openModel(memorySource(bytes, 'bad.gguf'), limits && { limits }).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(GgufError)
    expect(error).toMatchObject({
      code: `ERR_GPUNVME_GGUF_${problem}`,
      category: 'infeasible',
      sourceName: 'bad.gguf',
      positionBytes: at,
    })
  })
})

describe('openModel accepts a valid GGUF at the limit of a rule:', () => {
  const wellFormed: readonly { title: string; bytes: Uint8Array; limits?: Partial<FormatLimits> }[] = [
    { title: 'version 2', bytes: ggufHead(0, 0, 2) },
    {
      title: 'no tensors and no data section',
      bytes: concat(ggufHead(0, 1), entry('k', 0, u8(1))),
    },
    { title: 'a key of 65,535 bytes', bytes: oneEntry(entry('k'.repeat(65_535), 0, u8(1))) },
    {
      title: 'arrays nested as deep as the limit',
      bytes: oneEntry(entry('k', 9, ...Array.from({ length: 7 }, () => array(9, 1)), array(0, 1), u8(1))),
    },
    {
      title: 'as many kept bytes as the limit',
      bytes: oneEntry(entry('k', 8, text('0123456789'))),
      limits: { maxMetadataBytes: 11 },
    },
    { title: 'an alignment of 1', bytes: oneEntry(entry('general.alignment', 4, u32(1))) },
    { title: 'a tensor name of 63 bytes', bytes: oneTensor(info('n'.repeat(63), [1], 0, 0)) },
    { title: 'four dimensions', bytes: oneTensor(info('a', [1, 1, 1, 1], 0, 0)) },
    { title: 'no dimensions: one element', bytes: oneTensor(info('a', [], 0, 0)) },
    { title: 'a row of exactly one block', bytes: oneTensor(info('a', [32], 2, 0)) },
    { title: 'data up to the end of the file', bytes: padTo(64 + 4, concat(ggufHead(1, 0), info('a', [1], 0, 0))) },
    {
      title: 'adjacent tensors',
      bytes: concat(ggufHead(2, 0), info('a', [8], 0, 0), info('b', [1], 0, 32), zeros(256)),
    },
  ]
  test.each(wellFormed)('$title', async ({ bytes, limits }) => {
    await expect(openModel(memorySource(bytes), limits && { limits })).resolves.toMatchObject({ format: 'gguf' })
  })
})

test('the error of a truncated GGUF has the number of all missing bytes', async () => {
  const bytes = concat(ggufHead(2, 0), info('b', [64], 0, 256), info('a', [64], 0, 0), zeros(6), zeros(100))
  await expect(openModel(memorySource(bytes, 'cut.gguf'))).rejects.toThrow(
    // 24 + 33 + 33 = 90 is padded to 96; the data ends at 96 + 256 + 256 = 608, and the file at 196.
    'Cannot read cut.gguf as GGUF: the file ends before tensor "b" does: 412 bytes missing',
  )
})
