import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, test } from 'vitest'
import { concat, u64, zeros } from '../../test/formats/bytes.js'
import { Catalogue, memorySource, openModelParts, type ByteSource } from './index.js'

const MIB = 1024 * 1024
const INDEX = 'model.safetensors.index.json'

/** Number of tensors in the largest published index, of a mixture of experts with 60 blocks. */
const TENSORS = 500_000
const SHARDS = 60

// Without collection, most of the heap is garbage.
setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function liveBytes(): number {
  collectGarbage()
  return process.memoryUsage().heapUsed
}

const shardName = (shard: number): string => `model-${String(shard + 1).padStart(5, '0')}-of-000${SHARDS}.safetensors`
const shardOf = (tensor: number): number => Math.floor((tensor * SHARDS) / TENSORS)
const tensorName = (tensor: number): string =>
  `language_model.model.layers.${shardOf(tensor)}.block_sparse_moe.experts.${tensor % 384}.proj_${tensor}.weight_scale`

/** Returns a shard whose tensors are BF16 with two elements. */
function shardFile(shard: number): Uint8Array {
  const entries: string[] = []
  for (let tensor = Math.ceil((shard * TENSORS) / SHARDS); shardOf(tensor) === shard; tensor++) {
    const offsets = `[${4 * entries.length},${4 * entries.length + 4}]`
    entries.push(`"${tensorName(tensor)}":{"dtype":"BF16","shape":[2,1],"data_offsets":${offsets}}`)
  }
  const header = Buffer.from(`{${entries.join(',')}}`)
  return concat(u64(header.byteLength), header, zeros(4 * entries.length))
}

function indexFile(): Uint8Array {
  const entries = Array.from(
    { length: TENSORS },
    (_, tensor) => `    "${tensorName(tensor)}": "${shardName(shardOf(tensor))}"`,
  )
  return Buffer.from(
    `{\n  "metadata": {"total_size": ${4 * TENSORS}},\n  "weight_map": {\n${entries.join(',\n')}\n  }\n}\n`,
  )
}

describe(`an index of ${TENSORS} tensors`, () => {
  test('a large index is read once in pieces, and retains less than 350 bytes per tensor', async () => {
    const index = indexFile()
    expect(index.byteLength).toBeGreaterThan(60_000_000)
    const reads = { bytes: 0, longestBytes: 0 }
    const live: number[] = []
    let opened = 0
    const open = (name: string): Promise<ByteSource> => {
      // Garbage collection is slow, so not at every shard.
      if (opened++ % 10 === 0) live.push(liveBytes())
      if (name !== INDEX) return Promise.resolve(memorySource(shardFile(Number(name.slice(6, 11)) - 1), name))
      const source = memorySource(index, name)
      const read: ByteSource['read'] = (offsetBytes, into) => {
        reads.bytes += into.byteLength
        reads.longestBytes = Math.max(reads.longestBytes, into.byteLength)
        return source.read(offsetBytes, into)
      }
      return Promise.resolve({ ...source, read })
    }
    const before = liveBytes()
    const model = await openModelParts(INDEX, open)
    const retained = liveBytes() - before

    expect(model.tensors).toHaveLength(TENSORS)
    expect(model.parts).toHaveLength(SHARDS)
    expect(model.layers.map(({ name, tensors }) => [name, tensors.length])).toEqual(
      Array.from({ length: SHARDS }, (_, shard) => [
        `layer ${shard}`,
        model.tensors.filter(({ part }) => part === shard).length,
      ]),
    )
    expect(model.tensors.at(-1)).toMatchObject({ name: tensorName(TENSORS - 1), part: SHARDS - 1, dtype: 'BF16' })
    // The nine bytes that identify the format are read twice.
    expect(reads.bytes).toBe(index.byteLength + 9)
    expect(reads.longestBytes).toBeLessThanOrEqual(16 * MIB)
    // A name of 90 characters, an object and a shape: 270 bytes per tensor with Node 20, plus a margin.
    expect(retained / TENSORS).toBeLessThan(350)
    expect((Math.max(...live) - before) / TENSORS).toBeLessThan(350)

    const beforeCatalogue = liveBytes()
    const catalogue = new Catalogue(model)
    // A table from existing names to existing tensors: 30 bytes per tensor.
    expect((liveBytes() - beforeCatalogue) / TENSORS).toBeLessThan(60)
    expect(catalogue.experts(59)).toEqual(Array.from({ length: 384 }, (_, expert) => expert))
    expect(catalogue.layer(0).pieces).toHaveLength(Math.ceil(TENSORS / SHARDS))
  }, 240_000)
})
