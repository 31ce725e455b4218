import type { LayerOptions } from '../formats/model-index.js'
import type { BlockStore } from '../store/store.js'

/** Consecutive bytes of a store. */
export interface StoredRun {
  readonly storeBytes: number
  readonly lengthBytes: number
}

/** Bytes of a store with a known CRC-32/ISO-HDLC. They are read completely or not checked. */
export interface CheckUnit extends StoredRun {
  readonly crc32: number
}

/** Bytes that are contiguous in memory: a tensor, an expert's slice of one, any range. */
export interface StoredPiece {
  /** Name of the tensor; for a slice with its number: 'blk.3.ffn_up_exps.weight[7]'. */
  readonly name: string
  readonly dtype: string
  /** Lengths of the dimensions, outermost first (row-major). */
  readonly shape: readonly number[]
  readonly lengthBytes: number
  /** Locations of its bytes in order; several if the file is fragmented. */
  readonly runs: readonly StoredRun[]
}

/** Position of a part in the extent that it was split from. */
export interface ExtentPart {
  /** Name of the extent: 'layer 3'. */
  readonly extent: string
  /** From 0. */
  readonly index: number
  /** Number of parts of the extent. */
  readonly count: number
}

/** Data that are loaded together, and their location on a store. A loader derives its reads from it. */
export interface StoredExtent {
  /** 'layer 3', 'layer 3 expert 7', 'layer 3 part 1 of 4', a tensor's name. */
  readonly name: string
  /** Other name of its tensor, by which it was requested (tied weights): a lease finds the tensor by both. */
  readonly alias?: string
  readonly pieces: readonly StoredPiece[]
  /** The complete range including padding, laid out in memory as on the store. Default: only the pieces. */
  readonly fullRange?: StoredRun
  /**
   * In ascending order, without overlaps. Bytes outside of them cannot be checked. A part keeps all units of the
   * extent that it was split from. Only units that overlap its pieces are read.
   */
  readonly checks: readonly CheckUnit[]
  /** Present in a part of an extent that exceeds a slot: see `Loader.parts` and `fitLayers`. */
  readonly part?: ExtentPart
}

/** Returns the extent of a tensor with the name by which it was requested. */
export function requestedAs(name: string, extent: StoredExtent): StoredExtent {
  return name === extent.name ? extent : { ...extent, alias: name }
}

/** What a loader needs to know of a model. */
export type LoadableModel = Pick<StoredModel, 'name' | 'store' | 'layers' | 'hasChecksums' | 'layer'>

/** A model on a store, as an image or in its original files. */
export interface StoredModel {
  readonly name: string
  readonly store: BlockStore
  /** Names of layers, in the order of computation. */
  readonly layers: readonly string[]
  /** False if the model has no checksums. */
  readonly hasChecksums: boolean
  /**
   * Returns a layer by name, or by number: 3 is 'layer 3'. With `experts: false`, only the part that every token needs.
   * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS). The latter only with `experts: false`.
   */
  layer(layer: string | number, options?: LayerOptions): StoredExtent
  /**
   * Returns a tensor by its name or an alias (tied weights). @throws ExtentNotFoundError, LoaderError
   * (INVALID_ARGUMENT)
   */
  tensor(name: string): StoredExtent
  /**
   * Returns the numbers of a layer's routed experts, ascending; none for a dense layer.
   * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS)
   */
  experts(layer: string | number): readonly number[]
  /**
   * Returns an expert of a layer: its slices of stacked tensors, or its own tensors.
   * @throws ExtentNotFoundError, LoaderError (INVALID_ARGUMENT, UNEVEN_EXPERTS)
   */
  expert(layer: string | number, expert: number): StoredExtent
}
