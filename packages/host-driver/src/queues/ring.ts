/** Returns the index after `index` in a ring of `entries`. */
export function advance(index: number, entries: number): number {
  return index + 1 === entries ? 0 : index + 1
}
