import type { AbortSignalLike, ChecksummedMemory } from '@gpunvme/nvme-spec/transport'

/** Checks the arguments of a `Checksummer`. Returns the number of chunks. @throws RangeError */
export function chunksOf(
  { lengthBytes: whole }: ChecksummedMemory,
  offsetBytes: number,
  lengthBytes: number,
  chunkBytes: number,
  into: Uint32Array,
): number {
  const isRange = [offsetBytes, lengthBytes].every((value) => Number.isSafeInteger(value) && value >= 0)
  if (!isRange || lengthBytes > whole - offsetBytes) {
    throw new RangeError(
      `memory: expected a range inside 0 to ${whole} bytes, got ${lengthBytes} bytes from ${offsetBytes}`,
    )
  }
  if (!Number.isSafeInteger(chunkBytes) || chunkBytes <= 0) {
    throw new RangeError(`chunkBytes: expected a positive integer, got ${chunkBytes}`)
  }
  const chunks = Math.ceil(lengthBytes / chunkBytes)
  if (into.length < chunks) throw new RangeError(`into: expected ${chunks} elements, got ${into.length}`)
  return chunks
}

/** Same as `AbortSignal.throwIfAborted`. @throws the signal's reason. */
export function throwIfAborted(signal: AbortSignalLike | undefined): void {
  if (signal?.aborted === true) throw signal.reason
}
