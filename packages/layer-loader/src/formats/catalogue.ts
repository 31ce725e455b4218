import type { ByteSource } from './byte-source.js'

/** One tensor: what it is and which bytes of the source it takes. */
export interface Tensor {
  readonly name: string
  /** The format's own name: 'F32', 'Q4_0', 'BF16'. A GGUF type that this package does not know is 'type 77'. */
  readonly dtype: string
  /** Elements, row-major with the outermost dimension first in both formats; GGUF stores the reverse order. */
  readonly shape: readonly number[]
  /** Absolute in the source. */
  readonly offsetBytes: number
  /** Of a GGUF type that is not known: up to the next tensor, or to the end of the source. */
  readonly lengthBytes: number
  /** False for a dtype that is unknown or retired: such a tensor is listed, and refused only when it is loaded. */
  readonly loadable: boolean
}

/** Tensors that are wanted in memory together. */
export interface Layer {
  /** 'embedding', 'layer 0', 'layer 1', ..., 'output'. A second stack of blocks has its prefix: 'v.blk layer 0'. */
  readonly name: string
  /** In the order of their bytes in the source. */
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

/** What a model file says about itself. No tensor data has been read. */
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
  /** Bytes before the tensor data; the whole source for a file without tensors. */
  readonly headerBytes: number
  /** In the order of their bytes in the source. */
  readonly tensors: readonly Tensor[]
  /** In the order of computation: the embedding, the blocks by number, then the rest. */
  readonly layers: readonly Layer[]
  /** Where the model was read from. Still open, and still the caller's to close. */
  readonly source: ByteSource
}
