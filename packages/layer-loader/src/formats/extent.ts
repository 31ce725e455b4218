import type { Model, Tensor } from './model.js'

/** A run of bytes of a file of the model, with its destination in the memory of the extent. */
export interface ExtentPiece {
  /**
   * Tensor of these bytes, complete or (for an expert) a slice; undefined in a range, which may cut through tensors.
   */
  readonly tensor: Tensor | undefined
  /** Name of the tensor; for a slice with its number: 'blk.3.ffn_up_exps.weight[7]'. */
  readonly name: string
  readonly dtype: string
  /** Lengths of the dimensions, outermost first; for a slice without the dimension of experts. */
  readonly shape: readonly number[]
  /** Index of the part of the model. */
  readonly part: number
  /** Offset in the source of the part. */
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** Offset in the destination; a multiple of the catalogue's alignment. */
  readonly intoBytes: number
}

/** Bytes of a model that are loaded together. */
export interface ModelExtent {
  /** Name for messages: 'layer 12', 'layer 12 expert 7', a tensor's name. */
  readonly name: string
  readonly kind: 'tensor' | 'layer' | 'expert' | 'range'
  /** Pieces in the order of their bytes, part by part. The piece of an empty tensor has no bytes. */
  readonly pieces: readonly ExtentPiece[]
  /** Length of the destination: the pieces, and padding for alignment. */
  readonly lengthBytes: number
}

/** Lays out pieces one after the other, each at a multiple of `alignment` bytes. */
export function layOutExtent(
  name: string,
  kind: ModelExtent['kind'],
  pieces: readonly Omit<ExtentPiece, 'intoBytes'>[],
  alignment: number,
): ModelExtent {
  let endBytes = 0
  const placed = pieces.map((piece): ExtentPiece => {
    const intoBytes = Math.ceil(endBytes / alignment) * alignment
    endBytes = intoBytes + piece.lengthBytes
    return { ...piece, intoBytes }
  })
  return { name, kind, pieces: placed, lengthBytes: endBytes }
}

/**
 * Reads an extent from the files of the model through the CPU: for tests, for comparison, and without a drive.
 *
 * @param into at least as long as the extent. Padding is left unchanged.
 * @throws RangeError if `into` is too short; errors of the sources; the signal's reason.
 */
export async function readExtent(
  model: Model,
  extent: ModelExtent,
  into: Uint8Array,
  options?: { readonly signal?: AbortSignal },
): Promise<void> {
  if (into.byteLength < extent.lengthBytes) {
    throw new RangeError(
      `into: expected at least ${extent.lengthBytes} bytes for ${extent.name}, got ${into.byteLength}`,
    )
  }
  for (const { part, offsetBytes, lengthBytes, intoBytes } of extent.pieces) {
    await model.parts[part]!.source.read(offsetBytes, into.subarray(intoBytes, intoBytes + lengthBytes), options)
  }
}
