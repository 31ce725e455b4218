import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { HostBuffer } from '../flow/buffers.js'
import type { Extent } from '../image/format.js'
import type { BlockStore } from './store.js'

/** Returns the whole blocks that cover a range. */
export function coverOf({ offsetBytes, lengthBytes }: Extent, blockBytes: number): Extent {
  const startBytes = Math.floor(offsetBytes / blockBytes) * blockBytes
  const endBytes = Math.ceil((offsetBytes + lengthBytes) / blockBytes) * blockBytes
  return { offsetBytes: startBytes, lengthBytes: endBytes - startBytes }
}

/**
 * Reads the blocks that cover a range into a buffer, and returns the bytes of the range: a view of the buffer.
 * @throws RangeError for a range outside the store or too long for the buffer; errors of `read`.
 */
export async function readInto(
  store: BlockStore,
  range: Extent,
  { memory, bytes }: HostBuffer,
  options?: ExecuteOptions,
): Promise<Uint8Array> {
  const cover = coverOf(range, store.blockBytes)
  await store.read([{ ...cover, memoryBytes: 0 }], memory, options)
  const from = range.offsetBytes - cover.offsetBytes
  return bytes.subarray(from, from + range.lengthBytes)
}

/**
 * Reads any byte range of a store through a temporary buffer: for headers and the like, not for bulk data.
 * @throws RangeError for a range outside the store; errors of `read`.
 */
export async function readBytes(
  store: BlockStore,
  offsetBytes: number,
  lengthBytes: number,
  options?: ExecuteOptions,
): Promise<Uint8Array> {
  if (lengthBytes === 0) return new Uint8Array(0)
  const range = { offsetBytes, lengthBytes }
  using buffer = new HostBuffer(store.dma, coverOf(range, store.blockBytes).lengthBytes)
  return (await readInto(store, range, buffer, options)).slice()
}
