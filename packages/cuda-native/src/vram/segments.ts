import type { DmaSegment } from '@gpunvme/nvme-spec/transport'

/** What PRP entries speak of at least (CC.MPS 0), and what two owners must not share. */
export const PAGE_BYTES = 4096

/** A run of device addresses that has no place in a memory yet. */
export interface AddressRun {
  readonly iova: number
  readonly lengthBytes: number
}

/** Segments of a memory that these runs make up in this order, neighbours joined. */
export function joinRuns(runs: Iterable<AddressRun>): DmaSegment[] {
  const segments: { offsetBytes: number; iova: number; lengthBytes: number }[] = []
  let offsetBytes = 0
  for (const { iova, lengthBytes } of runs) {
    const last = segments.at(-1)
    if (last !== undefined && last.iova + last.lengthBytes === iova) last.lengthBytes += lengthBytes
    else segments.push({ offsetBytes, iova, lengthBytes })
    offsetBytes += lengthBytes
  }
  return segments
}

/**
 * What is wrong with segments that are to make up `lengthBytes` bytes; undefined where nothing is. Two places of a memory
 * at one address would pass for correct wherever only one of them is looked at.
 */
export function segmentsFault(segments: readonly DmaSegment[], lengthBytes: number): string | undefined {
  let end = 0
  for (const { offsetBytes, iova, lengthBytes: bytes } of segments) {
    if (!Number.isSafeInteger(iova) || iova < 0 || !Number.isSafeInteger(iova + bytes))
      return `the address ${iova} is none`
    if (!Number.isSafeInteger(bytes) || bytes <= 0 || bytes % PAGE_BYTES !== 0 || iova % PAGE_BYTES !== 0)
      return `${hex(iova)} + ${bytes} bytes are no whole pages`
    if (offsetBytes !== end) return `byte ${end} of the memory is nowhere`
    end += bytes
  }
  if (end !== lengthBytes) return `${end} of ${lengthBytes} bytes have addresses`
  const sorted = segments.toSorted((one, other) => one.iova - other.iova)
  for (const [index, { iova }] of sorted.entries()) {
    const before = sorted[index - 1]
    if (before !== undefined && before.iova + before.lengthBytes > iova)
      return `${hex(iova)} is two places of the memory`
  }
  return undefined
}

/** The part of `segments` from `offsetBytes` on, counted from there. */
export function sliceSegments(
  segments: readonly DmaSegment[],
  offsetBytes: number,
  lengthBytes: number,
): readonly DmaSegment[] {
  return segments.flatMap((segment) => {
    const start = Math.max(offsetBytes, segment.offsetBytes)
    const end = Math.min(offsetBytes + lengthBytes, segment.offsetBytes + segment.lengthBytes)
    if (end <= start) return []
    return [
      { offsetBytes: start - offsetBytes, iova: segment.iova + start - segment.offsetBytes, lengthBytes: end - start },
    ]
  })
}

/** An address as the kernel and datasheets write it. */
export function hex(value: number | bigint): string {
  return `0x${value.toString(16)}`
}

/** @throws RangeError for a range of GPU memory that no provider can map. */
export function checkGpuRange(gpuPointer: bigint, lengthBytes: number): void {
  if (typeof gpuPointer !== 'bigint' || gpuPointer <= 0n || gpuPointer % BigInt(PAGE_BYTES) !== 0n)
    throw new RangeError(`gpuPointer: expected a multiple of ${PAGE_BYTES} above 0, got ${String(gpuPointer)}`)
  if (!Number.isSafeInteger(lengthBytes) || lengthBytes <= 0 || lengthBytes % PAGE_BYTES !== 0)
    throw new RangeError(`lengthBytes: expected a positive multiple of ${PAGE_BYTES}, got ${lengthBytes}`)
}
