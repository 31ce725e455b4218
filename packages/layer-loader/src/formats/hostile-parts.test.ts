import fc from 'fast-check'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { describe, expect, test } from 'vitest'
import { entry, concat, ggufHead, info, padTo, shard, text, u32 } from '../../test/formats/bytes.js'
import { MemoryFolder } from '../../test/formats/memory-folder.js'
import { openModelParts, type FormatLimits } from './index.js'

const limits: Partial<FormatLimits> = { maxEntryBytes: 4096, maxMetadataBytes: 65_536, maxParts: 8 }

const splitPart = (number: number, ...names: readonly string[]): Uint8Array => {
  const keys = [
    entry('split.no', 2, Uint8Array.of(number, 0)),
    entry('split.count', 2, Uint8Array.of(2, 0)),
    entry('split.tensors.count', 5, u32(3)),
    entry('general.name', 8, text('x')),
  ]
  const infos = names.map((name, index) => info(name, [1], 0, 32 * index))
  const header = concat(ggufHead(names.length, keys.length), ...keys, ...infos)
  return padTo(Math.ceil(header.byteLength / 32) * 32 + 32 * names.length, header)
}

const SHARDED: Record<string, Uint8Array> = {
  'index.json': Buffer.from('{"metadata":{"n":[1.5,null]},"weight_map":{"a":"x.st","b":"y.st","c\\u00e9":"x.st"}}'),
  'x.st': shard('a', 'c\\u00e9'),
  'y.st': shard('b'),
}
const SPLIT: Record<string, Uint8Array> = {
  'm-00001-of-00002.gguf': splitPart(0, 'a'),
  'm-00002-of-00002.gguf': splitPart(1, 'b', 'c'),
}

/** One change of a few bytes in one of the files, or an end that comes too early. */
const damage = (names: readonly string[]) =>
  fc.record({
    name: fc.constantFrom(...names),
    at: fc.nat(400),
    bytes: fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 4 }),
      fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', '../', '/', '\0', '0', '{"').map((word) => Buffer.from(word)),
    ),
    cutOff: fc.boolean(),
  })

describe.each([
  ['sharded model', 'index.json', SHARDED],
  ['split GGUF', 'm-00002-of-00002.gguf', SPLIT],
])('a %s', (_, given, files) => {
  test('is the twin of one that opens', async () => {
    await using model = await openModelParts(given, new MemoryFolder(files).open, { limits })
    expect(model.tensors).toHaveLength(3)
    expect(model.parts).toHaveLength(2)
  })

  test('with one damaged file opens whole or fails with our own error, and leaves its folder neither way', async () => {
    const property = fc.asyncProperty(damage(Object.keys(files)), async ({ name, at, bytes, cutOff }) => {
      const damaged = Buffer.from(files[name]!)
      const place = at % damaged.byteLength
      damaged.set(bytes.subarray(0, damaged.byteLength - place), place)
      const folder = new MemoryFolder({ ...files, [name]: cutOff ? damaged.subarray(0, place) : damaged })
      const open = (asked: string) => {
        expect(asked).toMatch(/^[^/\\:\0]+$/)
        expect(['.', '..']).not.toContain(asked)
        return folder.open(asked)
      }
      try {
        const model = await openModelParts(given, open, { limits })
        for (const { part, offsetBytes, lengthBytes } of model.tensors) {
          expect(offsetBytes + lengthBytes).toBeLessThanOrEqual(model.parts[part]!.source.sizeBytes)
        }
        await model.close()
      } catch (error) {
        if (!(error instanceof GpuNvmeError)) throw error
        expect(error.code).toMatch(/^ERR_GPUNVME_(GGUF|SAFETENSORS|UNKNOWN|SPLIT|SHARD|PART)/)
      }
      expect(folder.opened).toEqual([])
    })
    await fc.assert(property, { numRuns: 3000 })
  }, 60_000)
})
