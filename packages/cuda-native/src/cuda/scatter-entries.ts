/** A piece that the kernel `gpunvme_scatter` copies. Offsets and lengths are bytes of any alignment. */
export interface ScatterPiece {
  readonly sourceOffset: number
  readonly destinationOffset: number
  readonly lengthBytes: number
}

/**
 * Returns the entries of `gpunvme_scatter` for some pieces: `struct ScatterEntry` of cuda/scatter.cuh, 32 bytes each. The
 * kernel checks nothing, so everything is checked here.
 *
 * @throws RangeError if a piece is outside either memory, or destinations overlap.
 */
export function scatterEntries(
  pieces: readonly ScatterPiece[],
  lengths: { readonly sourceBytes: number; readonly destinationBytes: number },
): BigUint64Array<ArrayBuffer> {
  const { sourceBytes, destinationBytes } = lengths
  const max = Math.min(sourceBytes, destinationBytes)
  const entries = new BigUint64Array(4 * pieces.length)
  let before = 0
  for (const [index, { sourceOffset, destinationOffset, lengthBytes }] of pieces.entries()) {
    check(`pieces[${index}].lengthBytes`, lengthBytes, max)
    check(`pieces[${index}].sourceOffset`, sourceOffset, sourceBytes - lengthBytes)
    check(`pieces[${index}].destinationOffset`, destinationOffset, destinationBytes - lengthBytes)
    entries.set([sourceOffset, destinationOffset, lengthBytes, before].map(BigInt), 4 * index)
    before += lengthBytes
  }
  checkApart(pieces)
  return entries
}

function check(name: string, value: number, max: number): void {
  if (!Number.isSafeInteger(value) || value < 0 || value > max)
    throw new RangeError(`${name}: expected an integer from 0 to ${max}, got ${value}`)
}

function checkApart(pieces: readonly ScatterPiece[]): void {
  const order = pieces.filter(({ lengthBytes }) => lengthBytes > 0)
  order.sort((one, other) => one.destinationOffset - other.destinationOffset)
  for (let index = 1; index < order.length; index++) {
    const { destinationOffset, lengthBytes } = order[index - 1]!
    const next = order[index]!.destinationOffset
    if (next < destinationOffset + lengthBytes)
      throw new RangeError(
        `pieces: expected destinations that do not overlap, got ${lengthBytes} bytes at ${destinationOffset} and more at ${next}`,
      )
  }
}
