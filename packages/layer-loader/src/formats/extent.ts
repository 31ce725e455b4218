import type { Model, Tensor } from './model.js'

/** A run of bytes of one of the model's files, and where it goes in the memory that the extent is loaded into. */
export interface ExtentPiece {
  /** Whose bytes these are, all of them or, of an expert, a slice; undefined in a range, which may cut through any. */
  readonly tensor: Tensor | undefined
  /** Index of the model's part. */
  readonly part: number
  /** Absolute in the part's source. */
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** From the start of the destination; a multiple of the catalogue's alignment. */
  readonly intoBytes: number
}

/** Bytes of a model that are wanted in memory together: what is loaded at once, in whatever unit a caller thinks. */
export interface ModelExtent {
  /** For messages: 'layer 12', 'layer 12 expert 7', a tensor's name. */
  readonly name: string
  readonly kind: 'tensor' | 'layer' | 'expert' | 'range'
  /** In the order of their bytes, part by part; one of an empty tensor has no bytes. */
  readonly pieces: readonly ExtentPiece[]
  /** Of the destination: the pieces, and what the alignment leaves free between them. */
  readonly lengthBytes: number
}

/** Lays pieces out one after the other, each at a multiple of `alignment` bytes. */
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
 * Reads an extent from the model's files, through the CPU: for tests, for comparison, and where there is no drive.
 *
 * @param into at least as long as the extent. What no piece covers is left as it is.
 * @throws RangeError when `into` is too short; what the sources throw; the signal's reason.
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
