import type { DmaMemory } from '@gpunvme/nvme-spec/transport'

/**
 * Rejects memory that PRP entries cannot describe (Base 2.1 §4.3.1), before a command for it is made.
 * @param name prefix of errors.
 * @throws RangeError for bytes outside of the memory, a misaligned start, or memory that ends inside a page.
 */
export function checkPrpFit(
  name: string,
  memory: DmaMemory,
  { offsetBytes, lengthBytes, pageBytes }: { offsetBytes: number; lengthBytes: number; pageBytes: number },
): void {
  const endBytes = offsetBytes + lengthBytes
  if (!Number.isSafeInteger(offsetBytes) || offsetBytes < 0 || endBytes > memory.lengthBytes) {
    throw new RangeError(
      `${name}: expected memory that holds bytes ${offsetBytes} to ${endBytes}, got ${memory.lengthBytes} bytes`,
    )
  }
  const first = memory.iovaAt(offsetBytes)
  if (first % 4 !== 0) {
    throw new RangeError(`${name}: expected memory that begins at a multiple of 4 bytes, got 0x${first.toString(16)}`)
  }
  for (const segment of memory.segments) {
    const breaksInside = segment.offsetBytes > offsetBytes && segment.offsetBytes < endBytes
    if (!breaksInside) continue
    const before = memory.iovaAt(segment.offsetBytes - 1) + 1
    if (segment.iova % pageBytes === 0 && before % pageBytes === 0) continue
    throw new RangeError(
      `${name}: expected memory whose segments meet at ends of ${pageBytes}-byte pages, got one at 0x${segment.iova.toString(16)}`,
    )
  }
}
