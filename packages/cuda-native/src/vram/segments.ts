import type { DmaSegment } from '@gpunvme/nvme-spec/transport'

/** Smallest memory page (CC.MPS 0) of PRP entries. Two owners must not share one. */
export const PAGE_BYTES = 4096

/** A run of device addresses, without an offset in a memory. */
export interface AddressRun {
  readonly iova: number
  readonly lengthBytes: number
}

/**
 * Returns the first fault of segments that must cover `lengthBytes` bytes; undefined if they are valid. Overlapping addresses
 * are a fault: a check of only one of the two places would not detect them.
 */
export function segmentsFault(segments: readonly DmaSegment[], lengthBytes: number): string | undefined {
  let end = 0
  for (const { offsetBytes, iova, lengthBytes: bytes } of segments) {
    if (!Number.isSafeInteger(iova) || iova < 0 || !Number.isSafeInteger(iova + bytes)) return `invalid address ${iova}`
    if (!Number.isSafeInteger(bytes) || bytes <= 0 || bytes % PAGE_BYTES !== 0 || iova % PAGE_BYTES !== 0)
      return `${bytes} bytes at ${hex(iova)} are not whole pages`
    if (offsetBytes !== end) return `byte ${end} of the memory has no address`
    end += bytes
  }
  if (end !== lengthBytes) return `only ${end} of ${lengthBytes} bytes have addresses`
  const sorted = segments.toSorted((one, other) => one.iova - other.iova)
  for (const [index, { iova }] of sorted.entries()) {
    const before = sorted[index - 1]
    if (before !== undefined && before.iova + before.lengthBytes > iova)
      return `two places of the memory have the address ${hex(iova)}`
  }
  return undefined
}

/** Returns the part of `segments` from `offsetBytes` on, with offsets relative to it. */
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

/** Formats an address in hexadecimal. */
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
