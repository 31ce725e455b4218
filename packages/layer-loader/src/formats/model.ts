import type { ByteSource } from './byte-source.js'

/** One tensor: what it is and which bytes of the model it takes. */
export interface Tensor {
  readonly name: string
  /** The format's own name: 'F32', 'Q4_0', 'BF16'. A GGUF type that this package does not know is 'type 77'. */
  readonly dtype: string
  /** Elements, row-major with the outermost dimension first in both formats; GGUF stores the reverse order. */
  readonly shape: readonly number[]
  /** Index of the part that holds it, all of it. */
  readonly part: number
  /** Absolute in the part's source. */
  readonly offsetBytes: number
  /** Of a GGUF type that is not known: up to the next tensor, or to the end of the part. */
  readonly lengthBytes: number
  /** False for a dtype that is unknown or retired: such a tensor is listed, and refused only when it is loaded. */
  readonly loadable: boolean
}

/** Tensors that are wanted in memory together. */
export interface Layer {
  /** 'embedding', 'layer 0', 'layer 1', ..., 'output'. A second stack of blocks has its prefix: 'v.blk layer 0'. */
  readonly name: string
  /** In the order of their bytes, part by part. */
  readonly tensors: readonly Tensor[]
  /** Sum over the tensors. */
  readonly lengthBytes: number
}

/** Stands for an array that was too long to keep, such as a tokenizer's vocabulary. */
export interface ArraySummary {
  /** Type of the items: 'string', 'float32', 'array'. */
  readonly arrayOf: string
  readonly count: number
}

/**
 * A metadata value. Integers are numbers where a number holds them exactly, whatever width they were stored with,
 * and bigints otherwise. Bytes of a string that are not UTF-8 become U+FFFD.
 */
export type MetadataValue = string | number | bigint | boolean | readonly MetadataValue[] | ArraySummary

/** One of the files that a model is made of; most are made of one. */
export interface ModelPart {
  /** Where the part was read from. Still open, and still to be closed by whoever opened it. */
  readonly source: ByteSource
  /** Bytes before the tensor data; the whole source for a file without tensors. */
  readonly headerBytes: number
}

/** What the files of a model say about themselves. No tensor data has been read. */
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
  /** In the publisher's order. The first has what the model says about itself. */
  readonly parts: readonly [ModelPart, ...ModelPart[]]
  /** In the order of their bytes, part by part. */
  readonly tensors: readonly Tensor[]
  /** In the order of computation: the embedding, the blocks by number, then the rest. */
  readonly layers: readonly Layer[]
}
