import type { DmaMemory, DmaSegment } from '../src/transport/index.js'

/** Returns memory without views, in segments of these addresses and lengths. */
export function segments(...runs: readonly (readonly [iova: number, lengthBytes: number])[]): DmaMemory {
  let offsetBytes = 0
  const made: DmaSegment[] = runs.map(([iova, lengthBytes]) => {
    const segment = { offsetBytes, iova, lengthBytes }
    offsetBytes += lengthBytes
    return segment
  })
  const lengthBytes = offsetBytes
  return {
    lengthBytes,
    segments: made,
    iovaAt(offset) {
      const found = made.findLast((segment) => segment.offsetBytes <= offset)
      if (found === undefined || offset > lengthBytes) throw new RangeError(`byte ${offset} is outside the memory`)
      return found.iova + offset - found.offsetBytes
    },
    forDevice: () => undefined,
    forHost: () => undefined,
    free: () => undefined,
  }
}
