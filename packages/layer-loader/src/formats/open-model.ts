import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ByteSource } from './byte-source.js'
import { readGguf } from './gguf.js'
import { splitOf } from './gguf-split.js'
import { resolveLimits, type FormatLimits } from './limits.js'
import type { Model } from './model.js'
import { modelOf } from './part-content.js'
import { readSafetensors } from './safetensors.js'
import { sniff } from './sniff.js'

export interface OpenModelOptions {
  /** Instead of those of `DEFAULT_LIMITS`. */
  readonly limits?: Partial<FormatLimits>
  readonly signal?: AbortSignal
}

/**
 * Reads what a GGUF or safetensors file says about itself: metadata, tensors and where their bytes are. The format
 * is told by content, not by name. Only the header is read, in pieces, so neither a long tokenizer nor a hostile
 * count takes memory beyond `limits`.
 *
 * The source stays the caller's: it is not closed, not even on errors. A model of several files has an opener of its
 * own, `openModelFile` or `openModelParts`; a safetensors shard does not say that it is one, and is read as a model.
 *
 * @throws UnknownFormatError when it is neither; GgufError or SafetensorsError when it is one and malformed;
 * ModelInPartsError when it says that there are other files.
 */
export async function openModel(source: ByteSource, options: OpenModelOptions = {}): Promise<Model> {
  const { signal } = options
  const limits = resolveLimits(options.limits)
  const format = await sniff(source, signal)
  if (format === 'safetensors index') {
    throw new ModelInPartsError(source.name, 'looks like the index of a model whose tensors are in other files')
  }
  if (format === 'safetensors') return modelOf([await readSafetensors(source, 0, limits, signal)])
  const content = await readGguf(source, 0, limits, signal)
  const split = splitOf(content)
  if (split === undefined) return modelOf([content])
  throw new ModelInPartsError(source.name, `is part ${split.number + 1} of ${split.count} of a split GGUF`)
}

/** One source was given of a model that has several. */
export class ModelInPartsError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MODEL_IN_PARTS'
  readonly category = 'usage'
  readonly sourceName: string

  constructor(sourceName: string, what: string) {
    super(`Cannot read ${sourceName} as a whole model: it ${what}`, {
      next: 'openModelFile(path) or openModelParts(name, openPart), which open the other files too',
    })
    this.sourceName = sourceName
  }
}
