import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import type { ByteSource } from './byte-source.js'
import type { ReadOptions } from './limits.js'
import type { PartContent } from './part-content.js'
import type { PartFiles } from './part-files.js'
import { quote } from './quote.js'
import { readSafetensors } from './safetensors.js'
import { readIndex, type Shard, type ShardIndex } from './safetensors-index.js'
import { sniff } from './sniff.js'

/** transformers' name of a shard: 'model-00002-of-00003.safetensors'. */
const SHARD_NAME = /^(.*)-\d{5}-of-(\d{5})\.safetensors$/s

/**
 * Reads a safetensors file and, if its name is that of a shard, all shards of the index in its directory. The content
 * of a shard does not identify it.
 *
 * @param name name of the given file, without directory.
 * @throws SafetensorsError, ShardError, LoaderError (PART_NOT_FOUND); errors of the opener.
 */
export async function readSafetensorsParts(
  name: string,
  source: ByteSource,
  files: PartFiles,
  reading: ReadOptions,
): Promise<[PartContent, ...PartContent[]]> {
  const [, stem, count] = SHARD_NAME.exec(name) ?? []
  if (stem === undefined || Number(count) <= 1) return [await readSafetensors(source, 0, reading)]
  // Read again in the order of the shards.
  await source.close()
  const indexName = `${stem}.safetensors.index.json`
  return readShards(await files.openSibling(indexName, source.name), files, reading)
}

/**
 * Reads an index, then the header of each file that it lists.
 *
 * @returns the shards ordered by name.
 * @throws SafetensorsError, ShardError, LoaderError (PART_NOT_FOUND); errors of the opener.
 */
export async function readShards(
  source: ByteSource,
  files: PartFiles,
  reading: ReadOptions,
): Promise<[PartContent, ...PartContent[]]> {
  const index = await readIndex(source, reading.limits, reading.signal)
  await source.close()
  const readPart = async (shard: Shard, part: number): Promise<PartContent> => {
    const file = await files.openSibling(shard.fileName, source.name)
    if ((await sniff(file, reading.signal)) !== 'safetensors') {
      throw new ShardError('FORMAT', file.name, `the index ${source.name} lists it, but it is not a safetensors file`)
    }
    const content = await readSafetensors(file, part, reading)
    tickOff(content, shard, index, source.name)
    return content
  }
  const [first, ...others] = index.shards
  const contents: [PartContent, ...PartContent[]] = [await readPart(first, 0)]
  for (const shard of others) contents.push(await readPart(shard, contents.length))
  return contents
}

/** Removes the shard's tensors from the index, so that half a million names are not kept twice. */
function tickOff({ tensors, source }: PartContent, shard: Shard, { shardOf }: ShardIndex, indexName: string): void {
  for (const { name } of tensors) {
    const listed = shardOf.get(name)
    if (listed !== shard) {
      const where =
        listed === undefined ? 'does not list it, or lists it in an earlier shard' : `lists it in ${listed.fileName}`
      throw new ShardError(
        'UNLISTED_TENSOR',
        source.name,
        `it has tensor ${quote(name)}; the index ${indexName} ${where}`,
      )
    }
    shardOf.delete(name)
  }
  if (tensors.length === shard.tensors) return
  const missing = [...shardOf].filter(([, listed]) => listed === shard).map(([name]) => name)
  const more = missing.length > 1 ? ` and ${missing.length - 1} more` : ''
  const headline = `it lacks tensor ${quote(missing[0]!)}${more}, which the index ${indexName} lists`
  throw new ShardError('MISSING_TENSOR', source.name, headline)
}

/** Contradictions between an index and its shards, each with a remedy. The code is `ERR_GPUNVME_SHARD_<PROBLEM>`. */
const SHARD_PROBLEMS = {
  FORMAT: 'download the shard again, and compare its size with the publisher’s',
  UNLISTED_TENSOR: 'download the shard and the index again: they do not belong together',
  MISSING_TENSOR: 'download the shard and the index again: they do not belong together',
} as const

/** Codes of the reasons why the shards of a safetensors model do not fit together. */
export type ShardProblem = keyof typeof SHARD_PROBLEMS

/** Error of a shard that contradicts its index. */
export class ShardError extends GpuNvmeError {
  readonly code: `ERR_GPUNVME_SHARD_${ShardProblem}`
  readonly category: ErrorCategory = 'infeasible'
  /** Name of the shard. */
  readonly sourceName: string

  constructor(problem: ShardProblem, sourceName: string, headline: string) {
    super(`Cannot read ${sourceName} as a shard: ${headline}`, { next: SHARD_PROBLEMS[problem] })
    this.code = `ERR_GPUNVME_SHARD_${problem}`
    this.sourceName = sourceName
  }
}
