import { Transfers, Turns } from '../flow/transfers.js'
import { checkRange, type ByteSource } from '../formats/byte-source.js'
import type { DeviceExtent, FileOnDisk } from './file-system.js'

/** Reads in flight for a fragmented file: enough to keep a drive busy. */
const READS_AT_A_TIME = 32

/**
 * Returns a file on a device as a source, for `openModel`. It is a view: closing it leaves `source` open.
 * @param source The device that the extents refer to, not the partition.
 * @throws RangeError for extents that are outside `source`, out of order, or do not cover the file.
 */
export function fileOnDiskSource(source: ByteSource, { path, sizeBytes, extents }: FileOnDisk): ByteSource {
  let endBytes = 0
  for (const { fileOffsetBytes, deviceOffsetBytes, lengthBytes } of extents) {
    checkRange(source, deviceOffsetBytes, lengthBytes)
    if (fileOffsetBytes !== endBytes || lengthBytes === 0) {
      throw new RangeError(
        `extents: expected an extent from byte ${endBytes}, got ${lengthBytes} from ${fileOffsetBytes}`,
      )
    }
    endBytes += lengthBytes
  }
  if (endBytes !== sizeBytes) throw new RangeError(`extents: expected ${sizeBytes} bytes, got ${endBytes}`)
  const view: ByteSource = {
    name: `${path} on ${source.name}`,
    sizeBytes,
    async read(offsetBytes, into, options) {
      checkRange(view, offsetBytes, into.byteLength)
      await using reads = new Transfers(new Turns(Array(READS_AT_A_TIME).keys()), options?.signal)
      await reads.each(piecesOf(extents, offsetBytes, into.byteLength), ({ at, deviceOffsetBytes, lengthBytes }) =>
        source.read(deviceOffsetBytes, into.subarray(at, at + lengthBytes), options),
      )
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  return view
}

/** Returns the parts of extents that cover a range of the file, with their destinations. */
function piecesOf(
  extents: readonly DeviceExtent[],
  offsetBytes: number,
  lengthBytes: number,
): { at: number; deviceOffsetBytes: number; lengthBytes: number }[] {
  const pieces = []
  const endBytes = offsetBytes + lengthBytes
  for (let index = firstEndingAfter(extents, offsetBytes); index < extents.length; index++) {
    const extent = extents[index]!
    if (extent.fileOffsetBytes >= endBytes) break
    const from = Math.max(offsetBytes, extent.fileOffsetBytes)
    const to = Math.min(endBytes, extent.fileOffsetBytes + extent.lengthBytes)
    const deviceOffsetBytes = extent.deviceOffsetBytes + (from - extent.fileOffsetBytes)
    pieces.push({ at: from - offsetBytes, deviceOffsetBytes, lengthBytes: to - from })
  }
  return pieces
}

/** Binary search: a file may have a million extents. */
function firstEndingAfter(extents: readonly DeviceExtent[], offsetBytes: number): number {
  let low = 0
  let high = extents.length
  while (low < high) {
    const middle = (low + high) >>> 1
    const { fileOffsetBytes, lengthBytes } = extents[middle]!
    if (fileOffsetBytes + lengthBytes > offsetBytes) high = middle
    else low = middle + 1
  }
  return low
}
