import { GpuNvmeError, type ErrorCategory } from '@gpunvme/nvme-spec/error'
import type { ByteSource } from './byte-source.js'
import { readGguf } from './gguf.js'
import type { ReadOptions } from './limits.js'
import type { MetadataValue } from './model.js'
import type { PartContent } from './part-content.js'
import type { PartFiles } from './part-files.js'
import { quote } from './quote.js'
import { sniff } from './sniff.js'

/** Data of a part about its split: the keys split.no and split.count of llama.cpp's gguf-split. */
export interface Split {
  /** Counted from 0, unlike the number in the file name. */
  readonly number: number
  readonly count: number
}

/** llama.cpp's name of a part, for example 'model-00002-of-00003.gguf'. Its number counts from 1. */
const PART_NAME = /^(.*)-(\d{5})-of-(\d{5})\.gguf$/s

/**
 * Returns which part of a split GGUF a file is; undefined for a whole model, which includes a split of one part.
 * @throws SplitError for keys that are not integers, or a number outside the split.
 */
export function splitOf({ metadata, source }: PartContent): Split | undefined {
  const count = metadata.get('split.count')
  const number = metadata.get('split.no')
  if (count === undefined) return undefined
  if (!isCount(count) || !isCount(number) || number >= Math.max(1, count)) {
    const headline = `its split.no is ${shown(number)} and its split.count ${shown(count)}`
    throw new SplitError('KEY', source.name, headline)
  }
  return count <= 1 ? undefined : { number, count }
}

/**
 * Reads a GGUF and, if it is part of a split, all other parts, whichever one is given. They are opened by the names
 * that llama.cpp gives them.
 *
 * @param name name of the given file, without directory.
 * @returns the parts by number. Only the first has the model's metadata.
 * @throws GgufError, SplitError, LoaderError (PART_NOT_FOUND); errors of the opener.
 */
export async function readGgufParts(
  name: string,
  source: ByteSource,
  files: PartFiles,
  reading: ReadOptions,
): Promise<[PartContent, ...PartContent[]]> {
  const { limits } = reading
  const given = await readGguf(source, 0, reading)
  const named = placeByName(name)
  if (named !== undefined && named.count > 1) refuseMisplaced(given, named)
  const split = splitOf(given)
  if (split === undefined) return [given]
  const { number, count } = split
  if (named === undefined) {
    throw new SplitError('NAME', source.name, `its name does not end with part ${number + 1} of ${count}`)
  }
  if (count > limits.maxParts) {
    throw new SplitError('LIMIT', source.name, `it has ${count} parts; the limit is ${limits.maxParts} (maxParts)`)
  }

  const readPart = async (index: number): Promise<PartContent> => {
    if (index === 0 && number === 0) return given
    const isGiven = index === number
    const part = isGiven ? source : await files.openSibling(partName(named.stem, index, count), source.name)
    if (!isGiven && (await sniff(part, reading.signal)) !== 'gguf')
      throw new SplitError('FORMAT', part.name, 'it is not a GGUF')
    const content = await readGguf(part, index, reading)
    refuseMisplaced(content, { number: index, count })
    return content
  }
  const contents: [PartContent, ...PartContent[]] = [await readPart(0)]
  while (contents.length < count) contents.push(await readPart(contents.length))
  refuseDoubled(contents)
  refuseMiscounted(contents)
  return contents
}

function placeByName(name: string): (Split & { readonly stem: string }) | undefined {
  const [, stem, number, count] = PART_NAME.exec(name) ?? []
  return stem === undefined ? undefined : { stem, number: Number(number) - 1, count: Number(count) }
}

function partName(stem: string, number: number, count: number): string {
  const digits = (value: number): string => String(value).padStart(5, '0')
  return `${stem}-${digits(number + 1)}-of-${digits(count)}.gguf`
}

function refuseMisplaced(content: PartContent, expected: Split): void {
  const { name } = content.source
  const split = splitOf(content)
  const should = `as part ${expected.number + 1} of ${expected.count}`
  if (split === undefined) throw new SplitError('KEY', name, `it is named ${should}, but has no split.count above 1`)
  if (split.count !== expected.count) {
    throw new SplitError('COUNT', name, `it is named ${should}, but its split.count is ${split.count}`)
  }
  if (split.number !== expected.number) {
    throw new SplitError('NUMBER', name, `it is named ${should}, but its split.no (from 0) is ${split.number}`)
  }
}

function refuseDoubled(contents: readonly PartContent[]): void {
  const names = new Set<string>()
  for (const { tensors, source } of contents) {
    for (const { name } of tensors) {
      if (names.has(name)) {
        throw new SplitError('DUPLICATE_TENSOR', source.name, `tensor ${quote(name)} is also in an earlier part`)
      }
      names.add(name)
    }
  }
}

function refuseMiscounted(contents: readonly [PartContent, ...PartContent[]]): void {
  const [{ metadata, source }] = contents
  const expected = metadata.get('split.tensors.count')
  const found = contents.reduce((sum, { tensors }) => sum + tensors.length, 0)
  if (expected === found) return
  const headline = `its split.tensors.count is ${shown(expected)}, but its ${contents.length} parts have ${found} tensors`
  throw new SplitError('TENSOR_COUNT', source.name, headline)
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

function shown(value: MetadataValue | undefined): string {
  return typeof value === 'object' ? 'an array' : typeof value === 'string' ? quote(value) : String(value)
}

/** Problems of the parts of a split GGUF, each with a remedy. The code is `ERR_GPUNVME_SPLIT_<PROBLEM>`. */
const SPLIT_PROBLEMS = {
  KEY: 'split the model again with a current gguf-split, or download the part again',
  NAME: 'restore the names that gguf-split gave the parts, for example model-00001-of-00003.gguf',
  LIMIT: 'raise the limit in the options if you trust the file',
  FORMAT: 'download the part again; all parts of a split GGUF are GGUFs',
  NUMBER: 'restore the names of the parts: two of them seem to be swapped',
  COUNT: 'put the parts of one split together: this one belongs to another',
  DUPLICATE_TENSOR: 'put the parts of one split together, or split the model again',
  TENSOR_COUNT: 'put the parts of one split together, or split the model again',
} as const

/** Codes of the reasons why the files of a split GGUF model do not fit together. */
export type SplitProblem = keyof typeof SPLIT_PROBLEMS

/** Error of parts of a split GGUF that do not match. `code` names the problem. */
export class SplitError extends GpuNvmeError {
  readonly code: `ERR_GPUNVME_SPLIT_${SplitProblem}`
  readonly category: ErrorCategory = 'infeasible'
  /** Name of the part with the problem. */
  readonly sourceName: string

  constructor(problem: SplitProblem, sourceName: string, headline: string) {
    super(`Cannot read ${sourceName} as part of a split GGUF: ${headline}`, { next: SPLIT_PROBLEMS[problem] })
    this.code = `ERR_GPUNVME_SPLIT_${problem}`
    this.sourceName = sourceName
  }
}
