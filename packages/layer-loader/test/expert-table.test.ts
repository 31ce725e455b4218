import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { missingForC } from '../../../test/c-compiler.js'
import { scratch } from '../../../test/scratch.js'
import { pack } from '../src/image/index.js'
import { Catalogue } from '../src/formats/index.js'
import { expertTable, modelInPlace, openImage } from '../src/index.js'
import { joinStores } from '../src/store/index.js'
import { FETCH_LAYOUT } from '../src/load/expert-table.js'
import { MemoryNamespace } from './memory-namespace.js'
import { EXPERT_BYTES, EXPERTS, LAYERS, moeFile, moeModel, SLICE_BYTES, STACKS } from './moe-model.js'
import { tensorBytes } from './models.js'

const MIB = 1 << 20

async function packed() {
  const { namespace, media } = new MemoryNamespace({ capacityBytes: 24 * MIB })
  const source = await moeModel()
  await pack(source, namespace)
  return { model: (await openImage(namespace)).model(), media, source }
}

/** Reads a table as fetch_plan.cuh does, by the offsets of the header. */
function decode(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const word = (at: number) => view.getUint32(at, true)
  const long = (at: number) => Number(view.getBigUint64(at, true))
  const [layersAt, expertsAt, extentsAt] = [32, 40, 48].map(long) as [number, number, number]
  const extent = (index: number) => {
    const at = extentsAt + 40 * index
    const [firstBlock, offset, length] = [0, 8, 16].map((field) => long(at + field)) as [number, number, number]
    return { firstBlock, offset, length, skip: word(at + 24), drive: word(at + 28), crc32: word(at + 32) }
  }
  const expert = (index: number) => {
    const at = expertsAt + 16 * index
    const extents = Array.from({ length: word(at + 12) }, (_, number) => extent(word(at + 8) + number))
    return { bytes: long(at), extents }
  }
  const layers = Array.from({ length: word(4) }, (_, index) => {
    const at = layersAt + 8 * index
    return Array.from({ length: word(at + 4) }, (_, number) => expert(word(at) + number))
  })
  return {
    version: word(0),
    expertCount: word(8),
    extentCount: word(12),
    maxExtents: word(16),
    blockShift: word(20),
    maxBytes: long(24),
    bytes: long(56),
    layers,
  }
}

describe('a table of experts for the GPU', () => {
  test('locates the tensors of each expert on the drive, with their checksums', async () => {
    const { model, media, source } = await packed()
    const table = expertTable(model, { drive: 3 })
    expect(table.layers).toEqual(model.layers)
    const { layers, ...header } = decode(table.bytes)
    expect(header).toEqual({
      ...{ version: 1, expertCount: LAYERS * EXPERTS, extentCount: LAYERS * EXPERTS * STACKS.length },
      ...{ blockShift: 9, maxExtents: table.maxExtents, maxBytes: table.maxBytes, bytes: table.bytes.length },
    })
    expect(table.maxExtents).toBe(STACKS.length)
    for (const [index, name] of model.layers.entries()) {
      expect(layers[index]).toHaveLength(model.experts(name).length)
      for (const [number, { bytes, extents }] of layers[index]!.entries()) {
        let end = 0
        for (const [stack, { firstBlock, offset, length, skip, drive, crc32: crc }] of extents.entries()) {
          expect([offset, drive, offset % 16]).toEqual([end, 3, 0])
          end += Math.ceil((skip + length) / 512) * 512
          const data = media.subarray(firstBlock * 512 + skip, firstBlock * 512 + skip + length)
          const tensor = await tensorBytes(source, `blk.${name.slice(-1)}.${STACKS[stack]!}.weight`)
          expect(Buffer.compare(data, tensor.subarray(number * SLICE_BYTES, (number + 1) * SLICE_BYTES))).toBe(0)
          expect(crc).toBe(crc32(data))
        }
        expect(bytes).toBe(end)
        expect(bytes).toBeGreaterThanOrEqual(EXPERT_BYTES)
      }
    }
  })

  test('rejects a model without checksums, on several drives or in odd blocks, and an invalid drive index', async () => {
    const { model } = await packed()
    const file = moeFile()
    const { namespace } = new MemoryNamespace({ capacityBytes: 24 * MIB })
    const run = { fileOffsetBytes: 0, deviceOffsetBytes: 0, lengthBytes: file.length }
    const inPlace = modelInPlace(new Catalogue(await moeModel()), namespace, [[run]])
    expect(() => expertTable(inPlace)).toThrow(expect.objectContaining({ code: 'ERR_GPUNVME_NO_CHECKSUMS' }))
    const invalid = expect.objectContaining({ code: 'ERR_GPUNVME_INVALID_ARGUMENT' }) as Error
    expect(() => expertTable({ ...model, store: joinStores([model.store, model.store]) })).toThrow(invalid)
    expect(() => expertTable({ ...model, store: { blockBytes: 520 } as never })).toThrow(invalid)
    expect(() => expertTable(model, { drive: -1 })).toThrow(invalid)
    expect(() => expertTable(file as never)).toThrow(invalid)
  })

  test('rejects an empty tensor, without which the others would have other indices', async () => {
    const { model } = await packed()
    const withEmpty = {
      ...model,
      expert: (...of: Parameters<typeof model.expert>) => {
        const { pieces, ...others } = model.expert(...of)
        const [first, ...rest] = pieces
        return { ...others, pieces: [first!, { ...first!, name: 'empty', lengthBytes: 0, runs: [] }, ...rest] }
      },
    }
    expect(() => expertTable(withEmpty)).toThrow('model: expected experts without empty tensors, got "empty"')
  })

  test('rejects experts that have only checksums of chunks', async () => {
    const { model } = await packed()
    const chunks = [{ storeBytes: 2 * MIB, lengthBytes: MIB, crc32: 0 }]
    const old = {
      ...model,
      expert: (...of: Parameters<typeof model.expert>) => ({ ...model.expert(...of), checks: chunks }),
    }
    expect(() => expertTable(old)).toThrow(/^Cannot verify "layer 0 expert 0" alone: it has no checksum of its own/)
  })

  test('has the layout that a C compiler gives gpunvme_fetch.h', ({ skip }) => {
    const missing = missingForC('gcc')
    if (missing !== undefined) return skip(missing)
    const { version, ...structures } = FETCH_LAYOUT
    const numbers: Record<string, number> = { GNV_FETCH_VERSION: version }
    for (const [name, { size, ...fields }] of Object.entries(structures)) {
      numbers[`sizeof(${name})`] = size
      for (const [field, offset] of Object.entries(fields)) numbers[`offsetof(${name}, ${field})`] = offset
    }
    const header = join(import.meta.dirname, '../../cuda-native/cuda/gpunvme_fetch.h')
    const prints = Object.keys(numbers).map((each) => `printf("%llu\\n", (unsigned long long)(${each}));`)
    const source = `#include "${header}"\n#include <stddef.h>\n#include <stdio.h>\nint main(void) { ${prints.join('\n')} }\n`
    const program = join(scratch(), 'program')
    execFileSync('gcc', ['-x', 'c', '-', '-o', program], { input: source })
    const found = execFileSync(program, { encoding: 'utf8' }).trim().split('\n').map(Number)
    expect(Object.fromEntries(Object.keys(numbers).map((each, index) => [each, found[index]]))).toEqual(numbers)
  })
})
