import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import { ascii, concat, entry, ggufHead, info, padTo, safetensors, text, u32 } from '../../test/formats/bytes.js'
import { MemoryFolder } from '../../test/formats/memory-folder.js'
import { memorySource, openModel, openModelFile, openModelParts, SplitError, type FormatLimits } from './index.js'

const UINT16 = 2
const INT32 = 5
const UINT32 = 4

const u16 = (value: number): Uint8Array => Uint8Array.of(value & 0xff, value >> 8)

/** Encodes the split keys like gguf-split of llama.cpp: two uint16 and one int32. */
const splitKeys = (number: number, count: number, tensors: number): Uint8Array[] => [
  entry('split.no', UINT16, u16(number)),
  entry('split.count', UINT16, u16(count)),
  entry('split.tensors.count', INT32, u32(tensors)),
]

/** Encodes a GGUF with these entries and an F32 tensor of one element for each name, 32 bytes apart. */
function gguf(entries: readonly Uint8Array[], names: readonly string[]): Uint8Array {
  const infos = names.map((name, index) => info(name, [1], 0, 32 * index))
  const header = concat(ggufHead(names.length, entries.length), ...entries, ...infos)
  return padTo(Math.ceil(header.byteLength / 32) * 32 + 32 * names.length, header)
}

const name = (number: number, count = 3): string => `m-0000${number}-of-0000${count}.gguf`

/** Returns three valid parts. Only the first has metadata of the model, as with llama.cpp. */
const validParts = (): Record<string, Uint8Array> => ({
  [name(1)]: gguf([entry('general.architecture', 8, text('llama')), ...splitKeys(0, 3, 4)], ['token_embd.weight']),
  [name(2)]: gguf(splitKeys(1, 3, 4), ['blk.0.a', 'blk.1.a']),
  [name(3)]: gguf(splitKeys(2, 3, 4), ['blk.1.b']),
})

describe('a split GGUF', () => {
  test.each([1, 2, 3])('a split GGUF is opened completely by its part %i', async (number) => {
    const folder = new MemoryFolder(validParts())
    const model = await openModelParts(name(number), folder.open)
    expect(model).toMatchObject({ format: 'gguf', architecture: 'llama' })
    expect(model.metadata.get('split.no')).toBe(0)
    expect(model.parts.map(({ source, headerBytes }) => [source.name, headerBytes])).toEqual(
      Object.entries(folder.files).map(([part, bytes], index) => [part, bytes.byteLength - [32, 64, 32][index]!]),
    )
    expect(model.tensors.map((tensor) => [tensor.name, tensor.part])).toEqual([
      ['token_embd.weight', 0],
      ['blk.0.a', 1],
      ['blk.1.a', 1],
      ['blk.1.b', 2],
    ])
    for (const { part, offsetBytes } of model.tensors.filter((tensor) => tensor.name !== 'blk.1.a')) {
      expect(offsetBytes).toBe(model.parts[part]!.headerBytes)
    }
    expect(folder.opened.toSorted()).toEqual([name(1), name(2), name(3)])
    await model.close()
    await model.close()
    expect(folder.opened).toEqual([])
  })

  test('a split GGUF has layers with tensors of several parts', async () => {
    await using model = await openModelParts(name(1), new MemoryFolder(validParts()).open)
    expect(model.layers.map((layer) => [layer.name, layer.tensors.map((tensor) => tensor.part)])).toEqual([
      ['embedding', [0]],
      ['layer 0', [1]],
      ['layer 1', [1, 2]],
    ])
  })

  test('a split GGUF with one part opens under any name', async () => {
    const files = { 'whole.gguf': gguf(splitKeys(0, 1, 1), ['a']), 'm-00001-of-00001.gguf': gguf([], ['a']) }
    for (const whole of Object.keys(files)) {
      await using model = await openModelParts(whole, new MemoryFolder(files).open)
      expect(model.parts).toHaveLength(1)
    }
  })

  test('a split GGUF opens if its first part has no tensors, as with --no-tensor-first-split', async () => {
    const files = {
      [name(1, 2)]: gguf(splitKeys(0, 2, 1), []),
      [name(2, 2)]: gguf(splitKeys(1, 2, 1), ['a']),
    }
    await using model = await openModelParts(name(1, 2), new MemoryFolder(files).open)
    expect(model.tensors).toMatchObject([{ name: 'a', part: 1 }])
    expect(model.parts[0].headerBytes).toBe(files[name(1, 2)]!.byteLength)
  })

  test('a split GGUF is rejected by openModel, which suggests openModelFile', async () => {
    const error: unknown = await openModel(memorySource(validParts()[name(2)]!, 'p2')).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_MODEL_IN_PARTS' })
    expect(error).toMatchObject({
      code: 'ERR_GPUNVME_MODEL_IN_PARTS',
      category: 'usage',
      headline: expect.stringContaining('p2') as unknown,
    })
    expect((error as Error).message).toContain('it is part 2 of 3 of a split GGUF\n  Try: use openModelFile(path)')
  })
})

interface Case {
  readonly title: string
  /** Replacements for files of `validParts()`. */
  readonly files: Record<string, Uint8Array>
  readonly given?: string
  readonly problem: string
  readonly sourceName: string
  readonly limits?: Partial<FormatLimits>
}

const malformed: readonly Case[] = [
  {
    title: 'a part without split.count',
    files: { [name(2)]: gguf([], ['blk.0.a']) },
    problem: 'KEY',
    sourceName: name(2),
  },
  {
    title: 'a first part without split.count',
    files: { [name(1)]: gguf([], []) },
    problem: 'KEY',
    sourceName: name(1),
  },
  {
    title: 'a split.count without a split.no',
    files: { [name(1)]: gguf([entry('split.count', UINT16, u16(3))], []) },
    problem: 'KEY',
    sourceName: name(1),
  },
  {
    title: 'a split.count that is a string',
    files: { [name(1)]: gguf([entry('split.no', UINT16, u16(0)), entry('split.count', 8, text('3'))], []) },
    problem: 'KEY',
    sourceName: name(1),
  },
  {
    title: 'a split.no as large as split.count',
    files: { [name(3)]: gguf(splitKeys(3, 3, 4), ['blk.1.b']) },
    problem: 'KEY',
    sourceName: name(3),
  },
  {
    title: 'a negative split.no',
    files: { [name(1)]: gguf([entry('split.no', INT32, u32(0xffff_ffff)), entry('split.count', UINT16, u16(3))], []) },
    problem: 'KEY',
    sourceName: name(1),
  },
  {
    title: 'a part whose name has no number',
    files: { 'm.gguf': gguf(splitKeys(0, 3, 4), []) },
    given: 'm.gguf',
    problem: 'NAME',
    sourceName: 'm.gguf',
  },
  {
    title: 'two exchanged parts',
    files: { [name(2)]: validParts()[name(3)]!, [name(3)]: validParts()[name(2)]! },
    problem: 'NUMBER',
    sourceName: name(2),
  },
  {
    title: 'a part with the name of another',
    files: { [name(1)]: validParts()[name(2)]! },
    problem: 'NUMBER',
    sourceName: name(1),
  },
  {
    title: 'a part of a split into four',
    files: { [name(3)]: gguf(splitKeys(2, 4, 4), ['blk.1.b']) },
    problem: 'COUNT',
    sourceName: name(3),
  },
  {
    title: 'a tensor in two parts',
    files: { [name(3)]: gguf(splitKeys(2, 3, 4), ['blk.0.a']) },
    problem: 'DUPLICATE_TENSOR',
    sourceName: name(3),
  },
  {
    title: 'one tensor fewer than split.tensors.count',
    files: { [name(2)]: gguf(splitKeys(1, 3, 4), ['blk.0.a']) },
    problem: 'TENSOR_COUNT',
    sourceName: name(1),
  },
  {
    title: 'no split.tensors.count',
    files: { [name(1)]: gguf(splitKeys(0, 3, 4).slice(0, 2), ['token_embd.weight']) },
    problem: 'TENSOR_COUNT',
    sourceName: name(1),
  },
  {
    title: 'a part that is a safetensors file',
    files: { [name(2)]: safetensors('{}') },
    problem: 'FORMAT',
    sourceName: name(2),
  },
  {
    title: 'more parts than the limit',
    files: { 'm-00001-of-60000.gguf': gguf(splitKeys(0, 60_000, 4), []) },
    given: 'm-00001-of-60000.gguf',
    problem: 'LIMIT',
    sourceName: 'm-00001-of-60000.gguf',
  },
  {
    title: 'a split.count above the largest number in a name',
    files: { 'x.gguf': gguf([entry('split.no', UINT32, u32(0)), entry('split.count', UINT32, u32(4e9))], []) },
    given: 'x.gguf',
    problem: 'NAME',
    sourceName: 'x.gguf',
  },
]

describe('openModelParts rejects a malformed split GGUF, names the part and closes all files:', () => {
  test.each(malformed)('$problem: $title', async ({ files, given = name(1), problem, sourceName }) => {
    const folder = new MemoryFolder({ ...validParts(), ...files })
    const error: unknown = await openModelParts(given, folder.open).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(SplitError)
    expect(error).toMatchObject({ code: `ERR_GPUNVME_SPLIT_${problem}`, category: 'infeasible', sourceName })
    expect(folder.opened).toEqual([])
  })

  test('a missing part', async () => {
    const files = Object.entries(validParts()).filter(([part]) => part !== name(2))
    const folder = new MemoryFolder(Object.fromEntries(files))
    const error: unknown = await openModelParts(name(3), folder.open).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_PART_NOT_FOUND' })
    expect(error).toMatchObject({
      code: 'ERR_GPUNVME_PART_NOT_FOUND',
      category: 'not-found',
      headline: expect.stringContaining(name(2)) as unknown,
    })
    expect((error as Error).message).toContain(`its part ${name(2)} is missing`)
    expect(folder.opened).toEqual([])
  })

  test('an open function that fails, whose error is passed on', async () => {
    const folder = new MemoryFolder(validParts())
    const failing = (part: string) => (part === name(2) ? Promise.reject(new Error('open failed')) : folder.open(part))
    await expect(openModelParts(name(1), failing)).rejects.toThrow('open failed')
    expect(folder.opened).toEqual([])
  })

  test('a malformed part, with the code of its GGUF error', async () => {
    const files = { ...validParts(), [name(3)]: concat(ascii('GGUF'), u32(1)) }
    await expect(openModelParts(name(1), new MemoryFolder(files).open)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_GGUF_VERSION',
      sourceName: name(3),
    })
  })
})

describe('openModelFile', () => {
  const directory = scratch()
  beforeAll(async () => {
    for (const [part, bytes] of Object.entries(validParts())) await writeFile(join(directory, part), bytes)
  })

  test('finds all parts in the folder of the given one', async () => {
    await using model = await openModelFile(join(directory, name(2)))
    expect(model.parts.map(({ source }) => source.name)).toEqual([1, 2, 3].map((part) => join(directory, name(part))))
    for (const { part, offsetBytes, lengthBytes } of model.tensors) {
      await model.parts[part]!.source.read(offsetBytes, new Uint8Array(lengthBytes))
    }
  })

  test('closes all files with the model', async () => {
    const model = await openModelFile(join(directory, name(1)))
    await model.close()
    await expect(model.parts[2]!.source.read(0, new Uint8Array(1))).rejects.toThrow('the source is closed')
  })

  test('openModelFile names a missing path', async () => {
    const path = `${directory}/missing/../m.gguf`
    await expect(openModelFile(path)).rejects.toMatchObject({
      code: 'ERR_GPUNVME_MODEL_NOT_FOUND',
      headline: expect.stringContaining(path) as unknown,
    })
  })
})
