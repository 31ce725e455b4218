import type { BlockStore } from '../store/store.js'

/** Consecutive bytes of a store. */
export interface StoredRun {
  readonly storeBytes: number
  readonly lengthBytes: number
}

/** Bytes of a store whose CRC-32/ISO-HDLC is known. They are read whole, or not checked. */
export interface CheckUnit extends StoredRun {
  readonly crc32: number
}

/** What is wanted in one piece in memory: a tensor, an expert's slice of one, any run of bytes. */
export interface StoredPiece {
  /** A tensor's name; of a slice with its number: 'blk.3.ffn_up_exps.weight[7]'. */
  readonly name: string
  readonly dtype: string
  /** Elements, row-major with the outermost dimension first. */
  readonly shape: readonly number[]
  readonly lengthBytes: number
  /** Where its bytes lie, in their order. Several where the file that they are of is fragmented. */
  readonly runs: readonly StoredRun[]
}

/** What is loaded together, and where on a store it lies: pure data, that a loader makes its reads from. */
export interface StoredExtent {
  /** 'layer 3', 'layer 3 expert 7', a tensor's name. */
  readonly name: string
  readonly pieces: readonly StoredPiece[]
  /** Read whole, padding included, and laid out in memory as it lies on the store; the pieces alone when not given. */
  readonly whole?: StoredRun
  /** In ascending order, without overlaps. Bytes under none of them cannot be checked. */
  readonly checks: readonly CheckUnit[]
}

/** A model that lies on a store, as an image or as the files it was published in. */
export interface StoredModel {
  readonly name: string
  readonly store: BlockStore
  /** Names of layers, in the order of computation. */
  readonly layers: readonly string[]
  /** False where nothing is known that its bytes could be checked against. */
  readonly checkable: boolean
  /** A layer by name, or by its number: 3 is 'layer 3'. @throws RangeError, ExtentNotFoundError where there is none. */
  layer(layer: string | number): StoredExtent
  /** By its name, or one that stands for it (tied weights). @throws RangeError, ExtentNotFoundError. */
  tensor(name: string): StoredExtent
  /** One expert of a layer: its slices of stacked tensors, or tensors of its own. @throws RangeError, ExtentNotFoundError. */
  expert(layer: string | number, expert: number): StoredExtent
}
