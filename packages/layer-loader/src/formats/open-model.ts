import { LoaderError } from '../error.js'
import type { ByteSource } from './byte-source.js'
import { readGguf } from './gguf.js'
import { splitOf } from './gguf-split.js'
import { readOptionsOf, type FormatLimits } from './limits.js'
import type { Model } from './model.js'
import type { Naming } from './naming.js'
import { modelOf } from './part-content.js'
import { readSafetensors } from './safetensors.js'
import { sniff } from './sniff.js'

/** Options of functions that open a model. */
export interface OpenModelOptions {
  /** Limits that differ from `DEFAULT_LIMITS`. */
  readonly limits?: Partial<FormatLimits>
  /** How layers and experts are found. Default: by all published schemes, see `NAMING_SCHEMES`. */
  readonly naming?: Naming | undefined
  /**
   * Accepts a file that ends right after its header, for looking at it. Its tensors cannot be read. Default: false.
   */
  readonly headerOnly?: boolean
  readonly signal?: AbortSignal
}

/**
 * Reads the header of a GGUF or safetensors file: metadata, tensors and their locations. The format is detected by
 * content, not by name. Only the header is read, in pieces: neither a long tokenizer nor a hostile count takes memory
 * beyond `limits`.
 *
 * The caller keeps the source, which is not closed, even after errors. For a model of several files, use
 * `openModelFile` or `openModelParts`. A safetensors shard cannot be recognised as such, and is read as a model.
 *
 * @throws LoaderError (MODEL_IN_PARTS) for a file of a model with several files, UnknownFormatError for another format,
 * GgufError or SafetensorsError for a malformed file, RangeError for an invalid naming.
 */
export async function openModel(source: ByteSource, options: OpenModelOptions = {}): Promise<Model> {
  const { naming, signal } = options
  const reading = readOptionsOf(options)
  const format = await sniff(source, signal)
  if (format === 'safetensors index') {
    throw modelInParts(source.name, 'is an index; the tensors are in other files')
  }
  if (format === 'safetensors') return modelOf([await readSafetensors(source, 0, reading)], naming)
  const content = await readGguf(source, 0, reading)
  const split = splitOf(content)
  if (split === undefined) return modelOf([content], naming)
  throw modelInParts(source.name, `is part ${split.number + 1} of ${split.count} of a split GGUF`)
}

/** Error of opening one file of a model that has several. */
export function modelInParts(sourceName: string, what: string): LoaderError {
  const headline = `Cannot read ${sourceName} as a whole model: it ${what}`
  return new LoaderError('ERR_GPUNVME_MODEL_IN_PARTS', 'usage', headline, {
    next: 'use openModelFile(path) or openModelParts(name, openPart), which also open the other files',
  })
}
