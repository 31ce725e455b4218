import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { Checksummer, DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { zlibChecksummer } from '../checksum/zlib-checksummer.js'
import { HostBuffer } from '../flow/buffers.js'
import type { CheckedExtent } from '../image/format.js'
import { coverOf, readInto } from './read-bytes.js'
import type { BlockStore, StoreCopies } from './store.js'

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
  using buffer = new HostBuffer(store.dma, coverOf(extent, store.blockBytes).lengthBytes)
  let right: Uint8Array | undefined
  await findRightCopies(copies, extent, options, async (copy) => {
    const bytes = await readInto(copy, extent, buffer, options)
    const at = bytes.byteOffset - buffer.bytes.byteOffset
    const crc = await checksumOf(buffer.memory, at, bytes.byteLength, checksummer, options)
    if (crc === extent.crc32) right ??= bytes.slice()
    return crc
  })
  return right
}

/**
 * Replaces whole blocks that had a wrong checksum, in memory that the host may not see, as `readRightCopy` does.
 * @param checksummer of that memory
 * @returns whether they were replaced: false if no copy has the right bytes, or the store has no copies
 * @throws the signal's reason; errors of reading the right copy again
 */
export async function replaceByRightCopy(
  store: BlockStore,
  extent: CheckedExtent,
  { memory, memoryBytes }: { readonly memory: DmaMemory; readonly memoryBytes: number },
  options: ExecuteOptions,
  checksummer: Checksummer,
): Promise<boolean> {
  const { copies } = store
  if (copies === undefined) return false
  const { offsetBytes, lengthBytes } = extent
  const transfers = [{ offsetBytes, lengthBytes, memoryBytes }]
  let last: BlockStore | undefined
  const [right] = await findRightCopies(copies, extent, options, async (copy) => {
    last = copy
    await copy.read(transfers, memory, options)
    return checksumOf(memory, memoryBytes, lengthBytes, checksummer, options)
  })
  if (right !== undefined && right !== last) await right.read(transfers, memory, options)
  return right !== undefined
}

/**
 * Reads bytes from every copy, and reports the copies that are wrong if another one is right.
 * @param crcOn reads them from a copy, and returns their CRC-32
 * @returns the copies that are right, the last one read first
 */
async function findRightCopies(
  copies: StoreCopies,
  { offsetBytes, lengthBytes, crc32 }: CheckedExtent,
  { signal }: ExecuteOptions,
  crcOn: (copy: BlockStore) => Promise<number>,
): Promise<BlockStore[]> {
  const right: BlockStore[] = []
  const wrong: BlockStore[] = []
  for (const copy of copies.stores) {
    try {
      const isRight = (await crcOn(copy)) === crc32
      if (isRight) right.unshift(copy)
      else wrong.push(copy)
    } catch (error) {
      // A copy that cannot be read is not wrong.
      if (!(error instanceof GpuNvmeError) || error === signal?.reason) throw error
    }
  }
  if (right.length > 0) copies.repaired(offsetBytes, lengthBytes, wrong)
  return right
}

async function checksumOf(
  memory: DmaMemory,
  offsetBytes: number,
  lengthBytes: number,
  checksummer: Checksummer,
  { signal }: ExecuteOptions,
): Promise<number> {
  const sums = new Uint32Array(1)
  await checksummer.checksum(memory, offsetBytes, lengthBytes, lengthBytes, sums, signal && { signal })
  return sums[0]!
}
