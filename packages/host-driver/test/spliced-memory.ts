import type { DmaMemory, DmaSegment } from '@gpunvme/nvme-spec/transport'

/**
 * Creates memory from pieces of other memory, in any order and of any length, like memory of a GPU or without an IOMMU.
 * It has no view: its content is accessed in the original memory.
 */
export function splicedMemory(
  whole: DmaMemory,
  pieces: readonly (readonly [fromBytes: number, lengthBytes: number])[],
): DmaMemory {
  let lengthBytes = 0
  const segments: DmaSegment[] = pieces.map(([fromBytes, bytes]) => {
    const segment = { offsetBytes: lengthBytes, iova: whole.iovaAt(fromBytes), lengthBytes: bytes }
    lengthBytes += bytes
    return segment
  })
  return {
    lengthBytes,
    segments,
    iovaAt(offsetBytes) {
      const found = segments.findLast((segment) => segment.offsetBytes <= offsetBytes)
      return found!.iova + offsetBytes - found!.offsetBytes
    },
    forDevice: () => undefined,
    forHost: () => whole.forHost(0, whole.lengthBytes),
    free: () => undefined,
  }
}
