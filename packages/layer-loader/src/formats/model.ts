import type { ByteSource } from './byte-source.js'
import type { Naming } from './naming.js'

/** A tensor: its type, shape and location. */
export interface Tensor {
  readonly name: string
  /** Name of the type in the format: 'F32', 'Q4_0', 'BF16'. An unknown GGUF type is 'type 77'. */
  readonly dtype: string
  /** Lengths of the dimensions, outermost first (row-major), for both formats; GGUF stores the reverse order. */
  readonly shape: readonly number[]
  /** Index of the part that holds the whole tensor. */
  readonly part: number
  /** Offset in the source of the part. */
  readonly offsetBytes: number
  /** Length in bytes. For an opaque GGUF type: up to the next tensor, or to the end of the part. */
  readonly lengthBytes: number
  /** True for an unknown or retired type, whose length cannot be checked against the shape. */
  readonly opaque: boolean
}

/** Tensors that are loaded together. */
export interface Layer {
  /**
   * 'embedding', 'layer 0', 'layer 1', ..., 'output'. A second stack of blocks has a prefix: 'v.blk layer 0'. Layers of
   * multi-token prediction are 'mtp layer 0' and 'mtp'; see `isMtpLayer`.
   */
  readonly name: string
  /** Tensors in the order of their bytes, part by part. */
  readonly tensors: readonly Tensor[]
  /** Sum of the lengths of the tensors, in bytes. */
  readonly lengthBytes: number
}

/** Replaces an array that is too long to keep, such as the vocabulary of a tokenizer. */
export interface ArraySummary {
  /** Type of the items: 'string', 'float32', 'array'. */
  readonly arrayOf: string
  readonly count: number
}

/**
 * A metadata value. Integers are numbers if a number is exact, whatever their stored width, otherwise bigints. Bytes of
 * a string that are not UTF-8 become U+FFFD.
 */
export type MetadataValue = string | number | bigint | boolean | readonly MetadataValue[] | ArraySummary

/** One of the files of a model. Most models have one. */
export interface ModelPart {
  /** Source of the part, still open. The code that opened it closes it. */
  readonly source: ByteSource
  /** Bytes before the tensor data; the whole source for a file without tensors. */
  readonly headerBytes: number
  /** True for a file that ends after its header, which only the option `headerOnly` accepts. */
  readonly isHeaderOnly?: boolean
}

/** Headers of the files of a model. No tensor data have been read. */
export interface Model {
  readonly format: 'gguf' | 'safetensors'
  /** 2 or 3 for GGUF; 0 for safetensors, which has no version. */
  readonly formatVersion: number
  /** GGUF's general.name. */
  readonly name: string | undefined
  /** GGUF's general.architecture. */
  readonly architecture: string | undefined
  /** In file order. Arrays longer than `maxArrayItems` are summaries. */
  readonly metadata: ReadonlyMap<string, MetadataValue>
  /** Parts in the publisher's order. The first one has the metadata of the model. */
  readonly parts: readonly [ModelPart, ...ModelPart[]]
  /** Tensors in the order of their bytes, part by part. */
  readonly tensors: readonly Tensor[]
  /** Layers in the order of computation: the embedding, the blocks by number, then the rest; MTP layers last. */
  readonly layers: readonly Layer[]
  /** The option by which layers and experts were found; undefined for the published schemes. */
  readonly naming: Naming | undefined
}
