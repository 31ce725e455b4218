/**
 * Determines the size of something that can only be read: the smallest offset without a byte. Doubling brackets it and
 * bisection finds it, so a 4 TB disk takes about 85 one-byte reads.
 *
 * @param hasByteAt returns whether one byte can be read at an offset; true below the size, false from it.
 * @returns the size in bytes.
 * @throws RangeError if bytes can be read beyond 2^52: the source is endless.
 */
export async function sizeByProbing(hasByteAt: (offsetBytes: number) => Promise<boolean>): Promise<number> {
  if (!(await hasByteAt(0))) return 0
  let inside = 0
  let outside = 1
  while (await hasByteAt(outside)) {
    if (outside >= 2 ** 52) throw new RangeError('expected a size below 2^52 bytes, got more')
    inside = outside
    outside *= 2
  }
  while (outside - inside > 1) {
    const middle = inside + Math.floor((outside - inside) / 2)
    if (await hasByteAt(middle)) inside = middle
    else outside = middle
  }
  return outside
}
