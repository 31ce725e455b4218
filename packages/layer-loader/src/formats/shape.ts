/** How many elements a shape has; `Infinity` when that is more than a number holds exactly (2^53 - 1). */
export function elementsOf(shape: readonly number[]): number {
  // An empty tensor is empty however long its other dimensions are, in whichever order they are multiplied.
  if (shape.includes(0)) return 0
  let elements = 1
  for (const length of shape) {
    elements *= length
    if (elements > Number.MAX_SAFE_INTEGER) return Infinity
  }
  return elements
}
