import { crc32 } from 'node:zlib'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import type { CheckedExtent } from '../image/format.js'
import { readBytes } from './read-bytes.js'
import type { BlockStore } from './store.js'

/**
 * Reads bytes that had a wrong checksum from every copy of a store, and reports the copies that are wrong if another
 * one is right.
 * @returns the right bytes; undefined if no copy has them, or the store has no copies
 * @throws the signal's reason
 */
export async function readRightCopy(
  store: BlockStore,
  { offsetBytes, lengthBytes, crc32: expected }: CheckedExtent,
  options: ExecuteOptions = {},
): Promise<Uint8Array | undefined> {
  const { copies } = store
  if (copies === undefined) return undefined
  const wrong: BlockStore[] = []
  let right: Uint8Array | undefined
  for (const copy of copies.stores) {
    try {
      const bytes = await readBytes(copy, offsetBytes, lengthBytes, options)
      if (crc32(bytes) === expected) right ??= bytes
      else wrong.push(copy)
    } catch (error) {
      // A copy that cannot be read is not wrong.
      if (!(error instanceof GpuNvmeError) || error === options.signal?.reason) throw error
    }
  }
  if (right !== undefined) copies.repaired(offsetBytes, lengthBytes, wrong)
  return right
}
