/** Returns the number of elements of a shape; `Infinity` if it exceeds 2^53 - 1. */
export function elementsOf(shape: readonly number[]): number {
  // An empty tensor is empty whatever its other dimensions are, in any order of multiplication.
  if (shape.includes(0)) return 0
  let elements = 1
  for (const length of shape) {
    elements *= length
    if (elements > Number.MAX_SAFE_INTEGER) return Infinity
  }
  return elements
}
