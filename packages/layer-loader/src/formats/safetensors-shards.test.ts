import { describe, expect, test } from 'vitest'
import { ascii, ggufHead, shard } from '../../test/formats/bytes.js'
import { MemoryFolder } from '../../test/formats/memory-folder.js'
import { memorySource, openModel, openModelParts, SafetensorsError, ShardError, type FormatLimits } from './index.js'

const INDEX = 'model.safetensors.index.json'
const shardName = (number: number): string => `model-0000${number}-of-00003.safetensors`

/** Encodes an index like transformers: indented by two spaces, sorted by tensor, metadata first. */
function index(weightMap: Record<string, string>, metadata: unknown = { total_size: 5 }): Uint8Array {
  return Buffer.from(JSON.stringify({ metadata, weight_map: weightMap }, null, 2) + '\n')
}

const WEIGHT_MAP = {
  'lm_head.weight': shardName(3),
  'model.embed_tokens.weight': shardName(1),
  'model.layers.0.a': shardName(1),
  'model.layers.0.b': shardName(2),
  'model.layers.1.a': shardName(2),
}

const validFiles = (): Record<string, Uint8Array> => ({
  [INDEX]: index(WEIGHT_MAP),
  [shardName(1)]: shard('model.embed_tokens.weight', 'model.layers.0.a'),
  [shardName(2)]: shard('model.layers.0.b', 'model.layers.1.a'),
  [shardName(3)]: shard('lm_head.weight'),
})

describe('a sharded safetensors model', () => {
  test.each([INDEX, shardName(1), shardName(3)])('is opened completely by %s', async (name) => {
    const folder = new MemoryFolder(validFiles())
    const model = await openModelParts(name, folder.open)
    expect(model.format).toBe('safetensors')
    expect(model.parts.map(({ source }) => source.name)).toEqual([1, 2, 3].map(shardName))
    expect(model.tensors.map((tensor) => [tensor.name, tensor.part])).toEqual([
      ['model.embed_tokens.weight', 0],
      ['model.layers.0.a', 0],
      ['model.layers.0.b', 1],
      ['model.layers.1.a', 1],
      ['lm_head.weight', 2],
    ])
    expect(model.layers.map((layer) => [layer.name, layer.tensors.length])).toEqual([
      ['embedding', 1],
      ['layer 0', 2],
      ['layer 1', 1],
      ['output', 1],
    ])
    // The index is closed, and so is the first shard, which was opened to find the index.
    expect(folder.opened).toEqual([1, 2, 3].map(shardName))
    await model.close()
    expect(folder.opened).toEqual([])
  })

  test('a model of one shard needs no index', async () => {
    for (const name of ['model.safetensors', 'model-00001-of-00001.safetensors']) {
      await using model = await openModelParts(name, new MemoryFolder({ [name]: shard('a') }).open)
      expect(model.tensors).toHaveLength(1)
    }
  })

  test.each([
    ['metadata of any kind', index(WEIGHT_MAP, { a: [1, -2.5e10, true, null, { b: [] }], c: {}, d: 'x' })],
    ['metadata that is not an object', index(WEIGHT_MAP, 17)],
    ['no metadata and no space', Buffer.from(JSON.stringify({ weight_map: WEIGHT_MAP }))],
    ['another key after weight_map', Buffer.from(JSON.stringify({ weight_map: WEIGHT_MAP, more: [[]] }))],
  ])('opens with an index that has %s', async (_, bytes) => {
    await using model = await openModelParts(INDEX, new MemoryFolder({ ...validFiles(), [INDEX]: bytes }).open)
    expect(model.tensors).toHaveLength(5)
  })

  test('openModel rejects the index of a sharded model', async () => {
    const error: unknown = await openModel(memorySource(index(WEIGHT_MAP), INDEX)).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_MODEL_IN_PARTS' })
    expect((error as Error).message).toContain('it is an index; the tensors are in other files')
  })
})

describe('openModelParts rejects shards that do not match the index, and closes all files:', () => {
  test.each([
    [
      'MISSING_TENSOR',
      'a tensor of the index that is missing in its shard',
      { [shardName(2)]: shard('model.layers.1.a') },
      shardName(2),
      `it lacks tensor "model.layers.0.b", which the index ${INDEX} lists`,
    ],
    [
      'MISSING_TENSOR',
      'two tensors of the index that are missing in their shard',
      { [shardName(1)]: shard() },
      shardName(1),
      'it lacks tensor "model.embed_tokens.weight" and 1 more',
    ],
    [
      'UNLISTED_TENSOR',
      'a tensor of a shard that is missing in the index',
      { [shardName(3)]: shard('lm_head.weight', 'extra') },
      shardName(3),
      `it has tensor "extra"; the index ${INDEX} does not list it`,
    ],
    [
      'UNLISTED_TENSOR',
      'a tensor in a shard before its own',
      { [shardName(1)]: shard('model.embed_tokens.weight', 'model.layers.0.a', 'lm_head.weight') },
      shardName(1),
      `the index ${INDEX} lists it in ${shardName(3)}`,
    ],
    [
      'UNLISTED_TENSOR',
      'a tensor in its own shard and in a later one',
      { [shardName(3)]: shard('lm_head.weight', 'model.layers.0.a') },
      shardName(3),
      'or lists it in an earlier shard',
    ],
    [
      'FORMAT',
      'a shard that is a GGUF',
      { [shardName(2)]: ggufHead(0, 0) },
      shardName(2),
      'it is not a safetensors file',
    ],
    [
      'FORMAT',
      'a shard that is an index',
      { [shardName(2)]: index(WEIGHT_MAP) },
      shardName(2),
      'not a safetensors file',
    ],
  ])('%s: %s', async (problem, _, files, sourceName, message) => {
    const folder = new MemoryFolder({ ...validFiles(), ...files })
    const error: unknown = await openModelParts(INDEX, folder.open).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ShardError)
    expect(error).toMatchObject({ code: `ERR_GPUNVME_SHARD_${problem}`, category: 'infeasible', sourceName })
    expect((error as Error).message).toContain(message)
    expect(folder.opened).toEqual([])
  })

  test.each([shardName(2), INDEX])('a missing %s', async (missing) => {
    const files = Object.entries(validFiles()).filter(([name]) => name !== missing)
    const folder = new MemoryFolder(Object.fromEntries(files))
    const given = missing === INDEX ? shardName(1) : INDEX
    const error: unknown = await openModelParts(given, folder.open).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_PART_NOT_FOUND' })
    expect(error).toMatchObject({
      code: 'ERR_GPUNVME_PART_NOT_FOUND',
      headline: expect.stringContaining(missing) as unknown,
    })
    expect(folder.opened).toEqual([])
  })
})

interface Case {
  readonly title: string
  readonly json: string
  readonly problem: string
  readonly at: number
  readonly limits?: Partial<FormatLimits>
}

const file = (name: string): string => `{"weight_map":{"a":${JSON.stringify(name)}}}`

/** Offset of a file name, after `{"weight_map":{"a":`. */
const FILE = 19

const malformed: readonly Case[] = [
  { title: 'an index that ends early', json: '{"weight_map":{"a":"x"', problem: 'JSON', at: 22 },
  { title: 'an index with trailing bytes', json: `${file('x')}x`, problem: 'JSON', at: 24 },
  { title: 'a value that is invalid in JSON', json: '{"metadata":NaN}', problem: 'JSON', at: 12 },
  { title: 'a number with a leading zero', json: '{"metadata":012}', problem: 'JSON', at: 12 },
  { title: 'a comma before a brace', json: '{"weight_map":{"a":"x",}}', problem: 'JSON', at: 23 },
  { title: 'a name that is not UTF-8', json: '{"weight_map":{"\xff":"x"}}', problem: 'STRING', at: 15 },
  { title: 'no weight_map', json: '{"metadata":{}}', problem: 'WEIGHT_MAP', at: 0 },
  { title: 'an empty object', json: '{}       ', problem: 'WEIGHT_MAP', at: 0 },
  { title: 'an empty weight_map', json: '{"weight_map":{}}', problem: 'WEIGHT_MAP', at: 0 },
  { title: 'a weight_map that is an array', json: '{"weight_map":["x"]}', problem: 'WEIGHT_MAP', at: 14 },
  { title: 'two weight_maps', json: '{"weight_map":{},"weight_map":{}}', problem: 'DUPLICATE_KEY', at: 17 },
  { title: 'a tensor twice', json: '{"weight_map":{"a":"x","a":"x"}}', problem: 'DUPLICATE_KEY', at: 23 },
  { title: 'a file that is a number', json: '{"weight_map":{"a":1}}', problem: 'JSON', at: FILE },
  { title: 'a file above the folder', json: file('../x.safetensors'), problem: 'FILE_NAME', at: FILE },
  { title: 'a file with an absolute path', json: file('/etc/passwd'), problem: 'FILE_NAME', at: FILE },
  { title: 'a file in a folder', json: file('sub/x.safetensors'), problem: 'FILE_NAME', at: FILE },
  { title: 'a file above the folder with a backslash', json: file('..\\x'), problem: 'FILE_NAME', at: FILE },
  { title: 'a file with a Windows drive letter', json: file('C:x'), problem: 'FILE_NAME', at: FILE },
  {
    title: 'a file above the folder with an escaped name',
    json: '{"weight_map":{"a":"\\u002e\\u002e\\u002fx"}}',
    problem: 'FILE_NAME',
    at: FILE,
  },
  { title: 'the folder itself', json: file('.'), problem: 'FILE_NAME', at: FILE },
  { title: 'the folder above', json: file('..'), problem: 'FILE_NAME', at: FILE },
  { title: 'a file without a name', json: file(''), problem: 'FILE_NAME', at: FILE },
  { title: 'a file name with a NUL', json: file('x\0y'), problem: 'FILE_NAME', at: FILE },
  { title: 'a file name of 256 bytes', json: file('x'.repeat(256)), problem: 'FILE_NAME', at: FILE },
  { title: 'metadata nested too deep', json: `{"m":${'['.repeat(9)}`, problem: 'LIMIT', at: 13 },
  { title: 'a name beyond the limit', json: file('x'), problem: 'LIMIT', at: 15, limits: { maxKeyBytes: 0 } },
  { title: 'more tensors than the limit', json: file('x'), problem: 'LIMIT', at: 15, limits: { maxTensors: 0 } },
  { title: 'more files than the limit', json: file('x'), problem: 'LIMIT', at: FILE, limits: { maxParts: 0 } },
  { title: 'an index beyond the limit', json: file('x'), problem: 'LIMIT', at: 0, limits: { maxIndexBytes: 22 } },
]

describe('openModelParts rejects a malformed index with code and position:', () => {
  test.each(malformed)('$problem at $at: $title', async ({ json, problem, at, limits }) => {
    const opened: string[] = []
    const open = (name: string) => (opened.push(name), Promise.resolve(memorySource(ascii(json), name)))
    const error: unknown = await openModelParts(INDEX, open, limits && { limits }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SafetensorsError)
    expect(error).toMatchObject({ code: `ERR_GPUNVME_SAFETENSORS_${problem}`, sourceName: INDEX, positionBytes: at })
    // No file named by a hostile index was opened.
    expect(opened).toEqual([INDEX])
  })
})
