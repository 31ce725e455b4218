import { describe, expect, test } from 'vitest'
import { ascii, concat, safetensors, u64, zeros } from '../../test/formats/bytes.js'
import { memorySource, openModel, SafetensorsError, type FormatLimits, type SafetensorsProblem } from './index.js'

/** In `header`, `^` marks the invalid byte; it is not part of the file. */
interface Malformed {
  readonly title: string
  readonly header: string
  readonly dataBytes?: number
  readonly problem: SafetensorsProblem
  readonly limits?: Partial<FormatLimits>
}

const U8 = '{"dtype":"U8","shape":[1],"data_offsets":[0,1]}'

const malformed: readonly Malformed[] = [
  { title: 'an empty header', header: '^', problem: 'JSON' },
  { title: 'space before the header', header: '^ {}', problem: 'JSON' },
  { title: 'an array as the header', header: '^[]', problem: 'JSON' },
  { title: 'a header that is never closed', header: `{"a":${U8}^`, dataBytes: 1, problem: 'JSON' },
  { title: 'a header that ends inside a name', header: '{^"a', problem: 'JSON' },
  { title: 'a second object after the header', header: '{} ^{}', problem: 'JSON' },
  { title: 'a comma before the closing brace', header: `{"a":${U8},^}`, dataBytes: 1, problem: 'JSON' },
  { title: 'no comma between tensors', header: `{"a":${U8}^"b":${U8}}`, dataBytes: 1, problem: 'JSON' },
  { title: 'no colon after a name', header: `{"a"^${U8}}`, dataBytes: 1, problem: 'JSON' },
  { title: 'a name without quotes', header: `{^a:${U8}}`, dataBytes: 1, problem: 'JSON' },
  { title: 'null in place of a tensor', header: '{"a":^null}', problem: 'JSON' },
  { title: 'a number as dtype', header: '{"a":{"dtype":^8}}', problem: 'JSON' },
  { title: 'a string as shape', header: '{"a":{"shape":^"1"}}', problem: 'JSON' },
  { title: 'a negative dimension', header: '{"a":{"shape":[^-1]}}', problem: 'JSON' },
  { title: 'a nested shape', header: '{"a":{"shape":[^[1]]}}', problem: 'JSON' },

  { title: 'a name that is not UTF-8', header: `{^"\xff":${U8}}`, dataBytes: 1, problem: 'STRING' },
  { title: 'a control character in a name', header: `{^"a\nb":${U8}}`, dataBytes: 1, problem: 'STRING' },
  { title: 'an escape that is invalid in JSON', header: `{^"\\x61":${U8}}`, dataBytes: 1, problem: 'STRING' },
  { title: 'a lone surrogate', header: `{^"\\ud800":${U8}}`, dataBytes: 1, problem: 'STRING' },

  { title: 'a dimension with a fraction', header: '{"a":{"shape":[^1.0]}}', problem: 'NUMBER' },
  { title: 'a dimension with an exponent', header: '{"a":{"shape":[^1e3]}}', problem: 'NUMBER' },
  { title: 'a dimension with a leading zero', header: '{"a":{"shape":[^01]}}', problem: 'NUMBER' },
  { title: 'a dimension of 2^53', header: '{"a":{"shape":[^9007199254740992]}}', problem: 'NUMBER' },

  { title: 'the same tensor name twice', header: `{"a":${U8},^"a":${U8}}`, dataBytes: 1, problem: 'DUPLICATE_KEY' },
  {
    title: 'the same name with and without an escape',
    header: `{"a":${U8},^"\\u0061":${U8}}`,
    dataBytes: 1,
    problem: 'DUPLICATE_KEY',
  },
  { title: 'the same field twice', header: '{"a":{"dtype":"U8",^"dtype":"U8"}}', problem: 'DUPLICATE_KEY' },
  { title: 'the same metadata key twice', header: '{"__metadata__":{"k":"1",^"k":"2"}}', problem: 'DUPLICATE_KEY' },
  { title: '__metadata__ twice', header: '{"__metadata__":{},^"__metadata__":{}}', problem: 'DUPLICATE_KEY' },

  { title: 'an unknown field', header: '{"a":{^"offset":0}}', problem: 'FIELD' },
  { title: 'a field named __proto__', header: '{"a":{^"__proto__":0}}', problem: 'FIELD' },
  { title: 'no dtype', header: '{"a":^{"shape":[1],"data_offsets":[0,1]}}', dataBytes: 1, problem: 'FIELD' },
  { title: 'no shape', header: '{"a":^{"dtype":"U8","data_offsets":[0,1]}}', dataBytes: 1, problem: 'FIELD' },
  { title: 'no data_offsets', header: '{"a":^{"dtype":"U8","shape":[1]}}', dataBytes: 1, problem: 'FIELD' },
  { title: 'an empty tensor entry', header: '{"a":^{}}', problem: 'FIELD' },
  {
    title: 'one data offset',
    header: '{"a":^{"dtype":"U8","shape":[1],"data_offsets":[0]}}',
    dataBytes: 1,
    problem: 'FIELD',
  },
  { title: 'three data offsets', header: '{"a":{"data_offsets":^[0,1,2]}}', problem: 'FIELD' },
  { title: '65 dimensions', header: `{"a":{"shape":^[${'1,'.repeat(64)}1]}}`, problem: 'FIELD' },

  { title: 'a number in __metadata__', header: '{"__metadata__":{"k":^1}}', problem: 'METADATA' },
  { title: 'an array as __metadata__', header: '{"__metadata__":^[]}', problem: 'METADATA' },

  {
    title: 'a shape whose product overflows',
    header: '{"a":{"dtype":"U8","shape":^[4294967296,4294967296],"data_offsets":[0,0]}}',
    problem: 'SHAPE',
  },
  {
    title: 'a length in bits that overflows although the number of elements does not',
    header: '{"a":{"dtype":"F64","shape":^[9007199254740991],"data_offsets":[0,0]}}',
    problem: 'SHAPE',
  },
  {
    title: 'an odd count of F4, half a byte each',
    header: '{"a":{"dtype":"F4","shape":^[3],"data_offsets":[0,2]}}',
    dataBytes: 2,
    problem: 'SHAPE',
  },
  {
    title: 'two F6_E2M3, which are one and a half bytes',
    header: '{"a":{"dtype":"F6_E2M3","shape":^[2],"data_offsets":[0,2]}}',
    dataBytes: 2,
    problem: 'SHAPE',
  },
  {
    title: 'offsets that do not match the shape',
    header: '{"a":{"dtype":"F32","shape":[2],"data_offsets":^[0,4]}}',
    dataBytes: 4,
    problem: 'LENGTH',
  },
  {
    title: 'an end before the beginning, in a tensor of unknown dtype',
    header: '{"a":{"dtype":"NEW","shape":[1],"data_offsets":^[1,0]}}',
    dataBytes: 1,
    problem: 'LENGTH',
  },
  {
    title: 'a hole before the first tensor',
    header: '{"a":{"dtype":"U8","shape":[1],"data_offsets":^[1,2]}}',
    dataBytes: 2,
    problem: 'HOLE',
  },
  {
    title: 'a hole between tensors',
    header: `{"a":${U8},"b":{"dtype":"U8","shape":[1],"data_offsets":^[2,3]}}`,
    dataBytes: 3,
    problem: 'HOLE',
  },
  {
    title: 'tensors that share a byte',
    header: `{"a":{"dtype":"U8","shape":[2],"data_offsets":[0,2]},"b":{"dtype":"U8","shape":[2],"data_offsets":^[1,3]}}`,
    dataBytes: 3,
    problem: 'OVERLAP',
  },
  {
    title: 'two names for the same bytes',
    header: `{"a":${U8},"b":{"dtype":"U8","shape":[1],"data_offsets":^[0,1]}}`,
    dataBytes: 1,
    problem: 'OVERLAP',
  },
  {
    title: 'an empty tensor inside another',
    header:
      '{"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[0],"data_offsets":^[2,2]}}',
    dataBytes: 4,
    problem: 'OVERLAP',
  },
  {
    title: 'data without the last byte',
    header: '{"a":{"dtype":"U8","shape":[4],"data_offsets":^[0,4]}}',
    dataBytes: 3,
    problem: 'TRUNCATED',
  },
  { title: 'a byte after the last tensor', header: `{"a":${U8}}^`, dataBytes: 2, problem: 'EXCESS' },
  { title: 'a byte after a header without tensors', header: '{}^', dataBytes: 1, problem: 'EXCESS' },

  {
    title: 'more tensors than the limit',
    header: `{"a":${U8},^"b":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}}`,
    dataBytes: 2,
    problem: 'LIMIT',
    limits: { maxTensors: 1 },
  },
  {
    title: 'a name above the limit',
    header: `{^"abcde":${U8}}`,
    dataBytes: 1,
    problem: 'LIMIT',
    limits: { maxKeyBytes: 4 },
  },
  {
    title: 'metadata above the limit of bytes',
    header: '{"__metadata__":{"a":"1",^"b":"2"}}',
    problem: 'LIMIT',
    limits: { maxMetadataBytes: 10 },
  },
  {
    title: 'metadata above the limit of entries',
    header: '{"__metadata__":{"a":"1",^"b":"2"}}',
    problem: 'LIMIT',
    limits: { maxMetadataEntries: 1 },
  },
  {
    title: 'an entry that is longer than the limit',
    header: `{^"${'a'.repeat(100)}":${U8}}`,
    dataBytes: 1,
    problem: 'LIMIT',
    limits: { maxEntryBytes: 32 },
  },
]

/** A mark at the end of the header stands for the first byte of data without a tensor. */
function build({ header, dataBytes = 0 }: Malformed): { bytes: Uint8Array; at: number } {
  const mark = header.indexOf('^')
  const coveredBytes = header.endsWith('"data_offsets":[0,1]}}^') ? 1 : 0
  return { bytes: safetensors(header.replace('^', ''), dataBytes), at: 8 + mark + coveredBytes }
}

test('counts of bytes are in the singular for one byte', async () => {
  const opened = (header: string, dataBytes: number) => openModel(memorySource(safetensors(header, dataBytes)))
  await expect(opened(`{"a":${U8}}`, 2)).rejects.toThrow('1 byte after the last tensor')
  await expect(opened(`{"a":${U8}}`, 0)).rejects.toThrow('the file ends before tensor "a" does: 1 byte missing')
})

describe('openModel rejects a malformed safetensors file with code and position:', () => {
  test.each(malformed)('$problem: $title', async (malformed) => {
    const { bytes, at } = build(malformed)
    const { limits, problem } = malformed
    const source = memorySource(bytes, 'bad.safetensors')
    const error = await openModel(source, limits && { limits }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SafetensorsError)
    expect(error).toMatchObject({
      code: `ERR_GPUNVME_SAFETENSORS_${problem}`,
      category: 'infeasible',
      sourceName: 'bad.safetensors',
      positionBytes: at,
    })
  })

  const badLengths: readonly { title: string; bytes: Uint8Array; problem: SafetensorsProblem }[] = [
    { title: 'a header of 2^64 - 1 bytes', bytes: concat(u64(2n ** 64n - 1n), ascii('{}')), problem: 'LIMIT' },
    { title: 'a header of one byte above the limit', bytes: concat(u64(100_000_001), ascii('{}')), problem: 'LIMIT' },
    { title: 'a header longer than the file', bytes: concat(u64(3), ascii('{}')), problem: 'TRUNCATED' },
  ]
  test.each(badLengths)('$problem: $title', async ({ bytes, problem }) => {
    await expect(openModel(memorySource(bytes))).rejects.toMatchObject({
      code: `ERR_GPUNVME_SAFETENSORS_${problem}`,
      positionBytes: 0,
    })
  })
})

describe('openModel accepts a valid safetensors file at the limit of a rule:', () => {
  const wellFormed: readonly { title: string; header: string; dataBytes?: number; limits?: Partial<FormatLimits> }[] = [
    { title: 'a header without tensors', header: '{}' },
    { title: 'space after the header', header: '{}   \n\t\r ' },
    {
      title: 'space between all tokens',
      header: ` { "a" : { "dtype" : "U8" , "shape" : [ 1 ] , "data_offsets" : [ 0 , 1 ] } } `.trimStart(),
      dataBytes: 1,
    },
    { title: 'empty __metadata__', header: '{"__metadata__":{}}' },
    { title: 'a name with a complete surrogate pair', header: `{"\\ud83d\\ude00":${U8}}`, dataBytes: 1 },
    { title: 'a tensor named __proto__', header: `{"__proto__":${U8}}`, dataBytes: 1 },
    { title: 'two F4 in one byte', header: '{"a":{"dtype":"F4","shape":[2],"data_offsets":[0,1]}}', dataBytes: 1 },
    {
      title: 'four F6_E3M2 in three bytes',
      header: '{"a":{"dtype":"F6_E3M2","shape":[4],"data_offsets":[0,3]}}',
      dataBytes: 3,
    },
    {
      title: 'no dimensions: one element',
      header: '{"a":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}',
      dataBytes: 4,
    },
    { title: 'an empty tensor', header: '{"a":{"dtype":"F32","shape":[0],"data_offsets":[0,0]}}' },
    {
      title: 'an empty tensor with a dimension that would overflow',
      header: '{"a":{"dtype":"F64","shape":[9007199254740991,4,0],"data_offsets":[0,0]}}',
    },
    {
      title: 'an empty tensor between two others',
      header: `{"c":{"dtype":"U8","shape":[1],"data_offsets":[1,2]},"b":{"dtype":"U8","shape":[0],"data_offsets":[1,1]},"a":${U8}}`,
      dataBytes: 2,
    },
    {
      title: '64 dimensions',
      header: `{"a":{"dtype":"U8","shape":[${'1,'.repeat(63)}1],"data_offsets":[0,1]}}`,
      dataBytes: 1,
    },
    { title: 'exactly as many tensors as the limit', header: `{"a":${U8}}`, dataBytes: 1, limits: { maxTensors: 1 } },
    {
      title: 'much more space after the header than the window holds',
      header: `{}${' '.repeat(1000)}`,
      limits: { maxEntryBytes: 32 },
    },
  ]
  test.each(wellFormed)('$title', async ({ header, dataBytes, limits }) => {
    const source = memorySource(safetensors(header, dataBytes))
    await expect(openModel(source, limits && { limits })).resolves.toMatchObject({ format: 'safetensors' })
  })
})

// Comparing all pairs would exceed the time limit.
test('openModel rejects 200,000 tensors with the same bytes in less than quadratic time', async () => {
  const names = Array.from({ length: 200_000 }, (_, index) => `"t${index}":${U8}`)
  const bytes = concat(safetensors(`{${names.join(',')}}`), zeros(1))
  await expect(openModel(memorySource(bytes))).rejects.toMatchObject({ code: 'ERR_GPUNVME_SAFETENSORS_OVERLAP' })
}, 20_000)
