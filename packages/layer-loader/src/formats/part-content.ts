import { layersOf } from './layers.js'
import type { MetadataValue, Model, ModelPart, Tensor } from './model.js'
import type { Naming } from './naming.js'

/** Content of one file's header: a whole model, or one of its parts. */
export interface PartContent extends ModelPart {
  readonly format: Model['format']
  readonly formatVersion: number
  readonly metadata: ReadonlyMap<string, MetadataValue>
  /** Tensors in the order of their bytes. */
  readonly tensors: readonly Tensor[]
}

/** Combines the contents of files, in this order, into a model. @throws RangeError for an invalid naming. */
export function modelOf(contents: readonly [PartContent, ...PartContent[]], naming: Naming | undefined): Model {
  const [first, ...others] = contents
  const { format, formatVersion, metadata } = first
  const tensors = others.length === 0 ? first.tensors : contents.flatMap((content) => content.tensors)
  // safetensors has no standard keys; an equal name would have another meaning.
  const textOf = (key: string): string | undefined => {
    const value = format === 'gguf' ? metadata.get(key) : undefined
    return typeof value === 'string' ? value : undefined
  }
  const architecture = textOf('general.architecture')
  return {
    format,
    formatVersion,
    name: textOf('general.name'),
    architecture,
    metadata,
    parts: [partOf(first), ...others.map(partOf)],
    tensors,
    layers: layersOf({ format, architecture, metadata, tensors }, naming),
    naming,
  }
}

function partOf({ source, headerBytes, isHeaderOnly = false }: PartContent): ModelPart {
  return { source, headerBytes, ...(isHeaderOnly && { isHeaderOnly }) }
}
