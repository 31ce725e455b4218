import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GGMLQuantizationType, gguf } from '@huggingface/gguf'
import { describe, expect, test } from 'vitest'
import { scratch } from '../../../../test/scratch.js'
import {
  array,
  ascii,
  concat,
  entry,
  ggufHead,
  info,
  padTo,
  safetensors,
  text,
  u32,
  u64,
} from '../../test/formats/bytes.js'
import { MemoryFolder } from '../../test/formats/memory-folder.js'
import { tensorBytes } from '../../test/models.js'
import {
  memorySource,
  openFileSource,
  openModel,
  openModelParts,
  writeAlignedGguf,
  writeDemoModel,
  type Model,
} from './index.js'

const SLOW_MS = 60_000
const [UINT16, UINT32, STRING, ARRAY] = [2, 4, 8, 9]

const folder = scratch()

/** Returns two parts of a model with blocks before the embedding, 32-byte alignment and metadata of several types. */
function splitFiles(): Record<string, Uint8Array> {
  const u16 = (value: number) => Uint8Array.of(value, 0)
  const split = (number: number) => [
    entry('split.no', UINT16, u16(number)),
    entry('split.count', UINT16, u16(2)),
    entry('split.tensors.count', 5, u32(4)),
  ]
  const tokens = Array.from({ length: 3000 }, (_, index) => text(`token ${index}`))
  const kept = [
    entry('general.architecture', STRING, text('llama')),
    entry('tokens', ARRAY, array(STRING, 3000), ...tokens),
    entry('general.alignment', UINT32, u32(32)),
    entry('nested', ARRAY, array(ARRAY, 2), array(STRING, 1), text('a'), array(UINT32, 2), u32(7), u32(8)),
    entry('not.utf8', STRING, u64(2), Uint8Array.of(0xff, 0xfe)),
    entry('splitting.hairs', STRING, text('stays')),
  ]
  const part = (entries: Uint8Array[], names: string[], fill: number) => {
    const infos = names.map((name, index) => info(name, [5], 0, 32 * index))
    const header = concat(ggufHead(names.length, entries.length), ...entries, ...infos)
    const data = new Uint8Array(32 * names.length).map((_, index) => fill + index)
    return concat(padTo(Math.ceil(header.byteLength / 32) * 32, header), data)
  }
  return {
    'm-00001-of-00002.gguf': part(
      [...kept.slice(0, 2), ...split(0), ...kept.slice(2)],
      ['blk.1.b', 'output.weight'],
      0,
    ),
    'm-00002-of-00002.gguf': part(split(1), ['blk.0.a', 'token_embd.weight'], 100),
  }
}

/** Expects that both readers find the same metadata and tensors as before, at aligned offsets. */
async function expectAligned(path: string, original: Model, alignment = 4096): Promise<Model> {
  const oracle = await gguf(path, { allowLocalFile: true })
  const source = memorySource(await readFile(path), path)
  const model = await openModel(source)
  expect(model.tensors.map(({ name, dtype, shape, offsetBytes }) => ({ name, dtype, shape, offsetBytes }))).toEqual(
    oracle.tensorInfos.map(({ name, dtype, shape, offset }) => ({
      name,
      dtype: GGMLQuantizationType[dtype],
      shape: shape.map(Number).reverse(),
      offsetBytes: Number(oracle.tensorDataOffset + offset),
    })),
  )
  const order = original.layers.flatMap((layer) => layer.tensors)
  expect(model.tensors.map(({ name }) => name)).toEqual(order.map(({ name }) => name))
  for (const { name, offsetBytes } of model.tensors) {
    expect(offsetBytes % alignment).toBe(0)
    expect(Buffer.compare(await tensorBytes(model, name), await tensorBytes(original, name)), name).toBe(0)
  }
  expect((oracle.metadata as Record<string, unknown>)['general.alignment']).toBe(alignment)
  const others = ([key]: [string, unknown]) => key !== 'general.alignment' && !key.startsWith('split.')
  expect([...model.metadata].filter(others)).toEqual([...original.metadata].filter(others))
  return model
}

describe('writeAlignedGguf', () => {
  test(
    'aligns the demo model, and keeps each layer contiguous',
    async () => {
      const [from, to] = [join(folder, 'demo.gguf'), join(folder, 'aligned.gguf')]
      await writeDemoModel(from, { layers: 2, targetBytes: 2_000_000 })
      await using source = await openFileSource(from)
      const original = await openModel(source)
      const progress: number[] = []
      const onProgress = (event: { doneBytes: number; totalBytes: number }) =>
        progress.push(event.doneBytes / event.totalBytes)
      const { sizeBytes } = await writeAlignedGguf(to, original, { onProgress })
      expect(progress.at(-1)).toBe(1)
      expect((await readFile(to)).byteLength).toBe(sizeBytes)
      const model = await expectAligned(to, original)
      for (const { tensors } of model.layers) {
        const [first, last] = [tensors[0]!, tensors.at(-1)!]
        const lengthBytes = last.offsetBytes + last.lengthBytes - first.offsetBytes
        // A layer is contiguous: its tensors, and less than a page of padding for each.
        expect(lengthBytes).toBeLessThan(tensors.reduce((sum, tensor) => sum + tensor.lengthBytes + 4096, 0))
      }
    },
    SLOW_MS,
  )

  test(
    'overwrites its own source file, and is idempotent',
    async () => {
      const path = join(folder, 'own.gguf')
      await writeDemoModel(path, { layers: 1, targetBytes: 1_000_000 })
      const align = async () => {
        await using source = await openFileSource(path)
        await writeAlignedGguf(path, await openModel(source))
        return await readFile(path)
      }
      const once = await align()
      expect(Buffer.compare(await align(), once)).toBe(0)
    },
    SLOW_MS,
  )

  test('merges a split model without its split keys, and copies other metadata unchanged', async () => {
    const files = splitFiles()
    const original = await openModelParts('m-00002-of-00002.gguf', new MemoryFolder(files).open)
    const path = join(folder, 'merged.gguf')
    await writeAlignedGguf(path, original, { alignment: 64 })
    const model = await expectAligned(path, original, 64)
    expect(model.parts).toHaveLength(1)
    expect(model.layers.map(({ name }) => name)).toEqual(['embedding', 'layer 0', 'layer 1', 'output'])
    expect([...model.metadata.keys()]).toEqual([
      'general.architecture',
      'tokens',
      'nested',
      'not.utf8',
      'splitting.hairs',
      'general.alignment',
    ])
    const written = await readFile(path)
    const [first] = Object.values(files)
    const entryIn = (bytes: Uint8Array, key: string, next: string) => {
      const at = (name: string) => Buffer.from(bytes).indexOf(Buffer.from(text(name)))
      return bytes.subarray(at(key), at(next))
    }
    for (const [key, next, nextWritten] of [
      ['tokens', 'split.no', 'nested'],
      ['nested', 'not.utf8', 'not.utf8'],
      ['not.utf8', 'splitting.hairs', 'splitting.hairs'],
    ] as const) {
      expect(Buffer.compare(entryIn(written, key, nextWritten), entryIn(first!, key, next)), key).toBe(0)
      expect(entryIn(written, key, nextWritten).byteLength).toBeGreaterThan(20)
    }
  })

  test('omits the default alignment, and supports a sink with short writes', async () => {
    const original = await openModelParts('m-00001-of-00002.gguf', new MemoryFolder(splitFiles()).open)
    const pieces: Uint8Array[] = []
    const write = (bytes: Uint8Array) => {
      const taken = bytes.slice(0, 1000)
      pieces.push(taken)
      return Promise.resolve({ bytesWritten: taken.byteLength })
    }
    const { sizeBytes } = await writeAlignedGguf({ write }, original, { alignment: 32 })
    const bytes = concat(...pieces)
    expect(bytes.byteLength).toBe(sizeBytes)
    const model = await openModel(memorySource(bytes))
    expect(model.metadata.has('general.alignment')).toBe(false)
    expect(await tensorBytes(model, 'blk.0.a')).toEqual(await tensorBytes(original, 'blk.0.a'))
  })
})

describe('writeAlignedGguf leaves no file after', () => {
  async function refusal(model: Model, options = {}): Promise<unknown> {
    const inside = scratch()
    const error: unknown = await writeAlignedGguf(join(inside, 'x.gguf'), model, options).catch(
      (thrown: unknown) => thrown,
    )
    expect(await readdir(inside)).toEqual([])
    return error
  }
  const split = () => openModelParts('m-00001-of-00002.gguf', new MemoryFolder(splitFiles()).open)

  test('a model that is not a GGUF', async () => {
    const model = await openModel(memorySource(safetensors('{}'), 'm.safetensors'))
    const error = await refusal(model)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_NOT_GGUF' })
    expect((error as Error).message).toContain('m.safetensors')
  })

  test.each([0, 48, 2 ** 32])('an invalid alignment: %i', async (alignment) => {
    expect(await refusal(await split(), { alignment })).toBeInstanceOf(RangeError)
  })

  test('an abort or an exception of onProgress', async () => {
    expect(await refusal(await split(), { signal: AbortSignal.abort('no') })).toBe('no')
    const onProgress = () => {
      throw new Error('full')
    }
    expect(await refusal(await split(), { onProgress })).toMatchObject({ message: 'full' })
  })

  test('a failed read, and keeps the previous file', async () => {
    const path = join(folder, 'before.gguf')
    await writeFile(path, ascii('before'))
    const model = await split()
    const [{ source, headerBytes }, ...others] = model.parts
    const read: typeof source.read = (at, into, options) =>
      at < headerBytes ? source.read(at, into, options) : Promise.reject(new Error('gone'))
    const parts = [{ headerBytes, source: { ...source, read } }, ...others] as const
    await expect(writeAlignedGguf(path, { ...model, parts: [...parts] })).rejects.toThrow('gone')
    expect(await readFile(path, 'latin1')).toBe('before')
  })
})
