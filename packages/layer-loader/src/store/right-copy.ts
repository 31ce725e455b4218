import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Checksummer, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { zlibChecksummer } from '../checksum/zlib-checksummer.js'
import { HostBuffer } from '../flow/buffers.js'
import type { CheckedExtent } from '../image/format.js'
import { coverOf, readInto } from './read-bytes.js'
import type { BlockStore } from './store.js'

/**
 * Reads bytes that had a wrong checksum from every copy of a store, and reports the copies that are wrong if another
 * one is right.
 * @param checksummer of host memory
 * @returns the right bytes; undefined if no copy has them, or the store has no copies
 * @throws the signal's reason
 */
export async function readRightCopy(
  store: BlockStore,
  extent: CheckedExtent,
  options: ExecuteOptions = {},
  checksummer: Checksummer = zlibChecksummer,
): Promise<Uint8Array | undefined> {
  const { copies } = store
  if (copies === undefined) return undefined
  const { offsetBytes, lengthBytes } = extent
  using buffer = new HostBuffer(store.dma, coverOf(extent, store.blockBytes).lengthBytes)
  const wrong: BlockStore[] = []
  let right: Uint8Array | undefined
  for (const copy of copies.stores) {
    try {
      const bytes = await readInto(copy, extent, buffer, options)
      const [crc] = await checksumOf(bytes, buffer, checksummer, options)
      if (crc === extent.crc32) right ??= bytes.slice()
      else wrong.push(copy)
    } catch (error) {
      // A copy that cannot be read is not wrong.
      if (!(error instanceof GpuNvmeError) || error === options.signal?.reason) throw error
    }
  }
  if (right !== undefined) copies.repaired(offsetBytes, lengthBytes, wrong)
  return right
}

async function checksumOf(
  { byteOffset, byteLength }: Uint8Array,
  { memory, bytes: all }: HostBuffer,
  checksummer: Checksummer,
  { signal }: ExecuteOptions,
): Promise<Uint32Array> {
  const sums = new Uint32Array(1)
  await checksummer.checksum(memory, byteOffset - all.byteOffset, byteLength, byteLength, sums, signal && { signal })
  return sums
}
