/** A part of a ring: its entries, from `first` to before `end`, are in one piece of memory. */
export type RingPart<View> = View & { readonly first: number; readonly end: number }

/**
 * Returns the parts of a ring in these pieces of memory, in order. Pieces meet at page boundaries, so no entry is
 * split.
 */
export function ringParts<View extends object>(
  pieces: readonly Uint8Array[],
  entryBytes: number,
  viewOf: (piece: Uint8Array) => View,
): readonly RingPart<View>[] {
  let end = 0
  return pieces.map((piece) => {
    const first = end
    end += piece.length / entryBytes
    return { ...viewOf(piece), first, end }
  })
}

/** Returns the part that contains an entry of the ring. */
export function partOf<View>(parts: readonly RingPart<View>[], index: number): RingPart<View> {
  return parts.find(({ end }) => index < end)!
}
