import type { ByteSource } from './byte-source.js'
import type { FormatLimits } from './limits.js'
import { quote } from './quote.js'
import { SafetensorsError, SafetensorsJson } from './safetensors-json.js'

/** A file listed in an index. */
export interface Shard {
  /** Name without directory. */
  readonly fileName: string
  /** Number of tensors that the index lists for it. */
  tensors: number
}

/** Content of a model.safetensors.index.json: the file of each tensor. */
export interface ShardIndex {
  /** At least one, ordered by name, which is the order of their numbers. */
  readonly shards: readonly [Shard, ...Shard[]]
  readonly shardOf: Map<string, Shard>
}

/** Longest file name of common file systems. */
const MAX_FILE_NAME_BYTES = 255

/**
 * Reads an index piece by piece; only the names stay in memory. Metadata are skipped: writers disagree on the meaning
 * of total_size.
 * @throws SafetensorsError
 */
export async function readIndex(
  source: ByteSource,
  limits: FormatLimits,
  signal: AbortSignal | undefined,
): Promise<ShardIndex> {
  if (source.sizeBytes > limits.maxIndexBytes) {
    const headline = `the index has ${source.sizeBytes} bytes; the limit is ${limits.maxIndexBytes} (maxIndexBytes)`
    throw new SafetensorsError('LIMIT', source.name, 0, headline)
  }
  const json = new SafetensorsJson(source, 0, source.sizeBytes, limits, signal)
  const shards = new Map<string, Shard>()
  let shardOf: Map<string, Shard> | undefined
  await json.ahead()
  json.expect('{', 'at the start of the index')
  if (!json.accept('}')) {
    do {
      await json.ahead()
      const position = json.at()
      const key = json.string('key')
      json.expect(':', 'after the key')
      if (key !== 'weight_map') json.skipValue(limits.maxNestingDepth)
      else if (shardOf === undefined) shardOf = await readWeightMap(json, shards, limits)
      else throw json.error('DUPLICATE_KEY', position, 'it has two weight_maps')
      await json.ahead()
    } while (json.more('}', 'or "," after a value'))
  }
  await json.end()
  const [first, ...others] = [...shards.values()].sort((a, b) => (a.fileName < b.fileName ? -1 : 1))
  if (shardOf === undefined || first === undefined) {
    throw json.error('WEIGHT_MAP', 0, shardOf === undefined ? 'it has no weight_map' : 'its weight_map is empty')
  }
  return { shards: [first, ...others], shardOf }
}

async function readWeightMap(
  json: SafetensorsJson,
  shards: Map<string, Shard>,
  limits: FormatLimits,
): Promise<Map<string, Shard>> {
  const shardOf = new Map<string, Shard>()
  if (!json.accept('{')) throw json.error('WEIGHT_MAP', json.at(), 'its weight_map is not an object')
  if (json.accept('}')) return shardOf
  do {
    await json.ahead()
    const position = json.at()
    const name = json.string('tensor name')
    if (name.length > limits.maxKeyBytes) {
      const headline = `a tensor name has ${name.length} characters; the limit is ${limits.maxKeyBytes} (maxKeyBytes)`
      throw json.error('LIMIT', position, headline)
    }
    if (shardOf.has(name)) throw json.error('DUPLICATE_KEY', position, `the tensor ${quote(name)} appears twice`)
    json.expect(':', 'after the tensor name')
    const shard = readShard(json, shards, limits)
    shard.tensors++
    shardOf.set(name, shard)
    if (shardOf.size > limits.maxTensors) {
      const headline = `it has more tensors than the limit of ${limits.maxTensors} (maxTensors)`
      throw json.error('LIMIT', position, headline)
    }
    await json.ahead()
  } while (json.more('}', 'or "," after a file name'))
  return shardOf
}

function readShard(json: SafetensorsJson, shards: Map<string, Shard>, limits: FormatLimits): Shard {
  const position = json.at()
  const fileName = json.string('file name')
  const known = shards.get(fileName)
  if (known !== undefined) return known
  if (!isPlainFileName(fileName)) {
    throw json.error('FILE_NAME', position, `${quote(fileName)} is not the plain name of a file`)
  }
  if (shards.size === limits.maxParts) {
    throw json.error('LIMIT', position, `it has more files than the limit of ${limits.maxParts} (maxParts)`)
  }
  const shard = { fileName, tensors: 0 }
  shards.set(fileName, shard)
  return shard
}

/** An index is untrusted: its names must not leave its directory on any system. */
function isPlainFileName(name: string): boolean {
  const leadsAway = /[/\\:\p{Cc}]/u.test(name) || name === '.' || name === '..'
  return name !== '' && !leadsAway && Buffer.byteLength(name) <= MAX_FILE_NAME_BYTES
}
