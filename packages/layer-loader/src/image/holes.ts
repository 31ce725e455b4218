import { ALIGNMENT_BYTES, alignUp, DATA_START_BYTES, type Extent } from './format.js'

/** Returns the runs of a store outside the extents, in order: free space for an image. All are aligned. */
export function holesBetween(extents: readonly Extent[], capacityBytes: number): Extent[] {
  const endBytes = Math.floor(capacityBytes / ALIGNMENT_BYTES) * ALIGNMENT_BYTES
  const inOrder = extents.filter(({ lengthBytes }) => lengthBytes > 0).sort((a, b) => a.offsetBytes - b.offsetBytes)
  const holes: Extent[] = []
  let freeFrom = DATA_START_BYTES
  for (const { offsetBytes, lengthBytes } of [...inOrder, { offsetBytes: endBytes, lengthBytes: 0 }]) {
    if (offsetBytes > freeFrom) holes.push({ offsetBytes: freeFrom, lengthBytes: offsetBytes - freeFrom })
    freeFrom = Math.max(freeFrom, alignUp(offsetBytes + lengthBytes))
  }
  return holes
}

/** Returns the total length in bytes. */
export function sumOf(parts: readonly { readonly lengthBytes: number }[]): number {
  return parts.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
}
