/** A part of a ring whose entries, from `first` to before `end`, lie in one piece, and how it is looked at. */
export type RingPart<View> = View & { readonly first: number; readonly end: number }

/**
 * The parts of a ring that lies in these pieces of memory, in order. Pieces meet between pages, and so no entry lies in
 * two of them.
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

/** The part that has an entry of the ring. */
export function partOf<View>(parts: readonly RingPart<View>[], index: number): RingPart<View> {
  return parts.find(({ end }) => index < end)!
}
