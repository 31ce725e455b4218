import { findSignatures, SIGNATURE_SCAN_BYTES } from '@gpunvme/host-driver'
import { HostBuffer } from '../flow/buffers.js'
import type { SuperblockCopy } from '../image/copies.js'
import {
  ALIGNMENT_BYTES,
  alignUp,
  COPY_OFFSET_BYTES,
  DATA_START_BYTES,
  RECORD_BYTES,
  type CopyName,
  type Extent,
} from '../image/format.js'
import { holesBetween } from '../image/holes.js'
import { readBytes } from '../store/read-bytes.js'
import type { WritableBlockStore } from '../store/store.js'
import { encodeSuperblock, type Superblock } from '../image/superblock.js'

/**
 * Makes an image that is already on the media the live one. Each copy is flushed before the other is written, and the
 * live copy is written last: at any time, one of them is valid.
 */
export async function publish(
  store: WritableBlockStore,
  superblock: Superblock,
  copies: readonly SuperblockCopy[],
): Promise<void> {
  await store.flush()
  for (const copy of olderFirst(copies)) {
    await writeBytes(store, COPY_OFFSET_BYTES[copy], encodeSuperblock(copy, superblock))
    await store.flush()
  }
}

/** Discards an image: its copies are zeroed, and its extents may be overwritten. */
export async function invalidate(store: WritableBlockStore, copies: readonly SuperblockCopy[]): Promise<void> {
  for (const copy of olderFirst(copies)) {
    await writeBytes(store, COPY_OFFSET_BYTES[copy], new Uint8Array(RECORD_BYTES))
    // Each is flushed before the next: an older copy must not outlive the newer one and refer to reused extents.
    await store.flush()
  }
}

/**
 * Zeroes the reserved start of a store without an image, and its end, so that no partition table or file system seems
 * to be there: a backup GPT at the end would invite a tool to restore the primary one over a superblock. The write
 * guard has allowed the loss of earlier content.
 *
 * @param kept extents that are not cleared, since every byte of them will be read or written before publication.
 */
export async function clearEnds(store: WritableBlockStore, kept: readonly Extent[]): Promise<void> {
  const { blockBytes, capacityBytes, dma } = store
  const tailStart = Math.max(DATA_START_BYTES, capacityBytes - SIGNATURE_SCAN_BYTES)
  using buffer = new HostBuffer(dma, DATA_START_BYTES)
  buffer.bytes.fill(0)
  const zero = async (fromBytes: number, toBytes: number) => {
    const lengthBytes = toBytes - fromBytes
    if (lengthBytes > 0) await store.write([{ offsetBytes: fromBytes, lengthBytes, memoryBytes: 0 }], buffer.memory)
  }
  await zero(0, DATA_START_BYTES)
  for (const { offsetBytes, lengthBytes } of holesBetween(kept, capacityBytes)) {
    await zero(Math.max(tailStart, offsetBytes), offsetBytes + lengthBytes)
  }
  // Extents are multiples of 4096; a remainder at the end of the store belongs to none.
  await zero(Math.max(tailStart, capacityBytes - (capacityBytes % ALIGNMENT_BYTES)), capacityBytes)
  // Signatures that some formats keep far from both ends would be found, and require confirmation, in every pack.
  const source = {
    capacityBytes,
    blockBytes,
    readBytes: (at: number, length: number) => readBytes(store, at, length),
  }
  const isKept = (place: number) =>
    kept.some(({ offsetBytes, lengthBytes }) => place >= offsetBytes && place < alignUp(offsetBytes + lengthBytes))
  for (const { offsets } of await findSignatures(source)) {
    for (const place of offsets) {
      const block = Math.floor(place / blockBytes) * blockBytes
      if (!isKept(place)) await zero(block, block + blockBytes)
    }
  }
}

/** Writes bytes at an aligned offset, padded with zeros to the next aligned one, and waits for completion. */
export async function writeBytes(
  store: WritableBlockStore,
  offsetBytes: number,
  content: Uint8Array,
  signal?: AbortSignal,
): Promise<void> {
  const lengthBytes = alignUp(content.byteLength)
  if (lengthBytes === 0) return
  using buffer = new HostBuffer(store.dma, lengthBytes)
  buffer.bytes.set(content)
  await store.write([{ offsetBytes, lengthBytes, memoryBytes: 0 }], buffer.memory, signal && { signal })
}

/** Damaged copies before valid ones, lower generations before higher ones: the live copy is last. */
function olderFirst(copies: readonly SuperblockCopy[]): CopyName[] {
  const generationOf = ({ superblock }: SuperblockCopy) => superblock?.generation ?? 0
  return [...copies].sort((a, b) => generationOf(a) - generationOf(b)).map(({ copy }) => copy)
}
