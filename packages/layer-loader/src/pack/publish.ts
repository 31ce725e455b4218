import { findSignatures, SIGNATURE_REACH_BYTES } from '@gpunvme/host-driver'
import { allocateHostBuffer } from '../buffer-pool.js'
import type { SuperblockCopy } from '../image/copies.js'
import {
  ALIGNMENT_BYTES,
  alignUp,
  COPY_OFFSET_BYTES,
  DATA_START_BYTES,
  SUPERBLOCK_BYTES,
  type CopyName,
  type Extent,
} from '../image/format.js'
import { holesBetween } from '../image/holes.js'
import { readBytes } from '../store/read-bytes.js'
import type { WritableBlockStore } from '../store/store.js'
import { encodeSuperblock, type Superblock } from '../image/superblock.js'

/**
 * Makes an image that is already on the media the live one. Each copy is flushed before the other is touched, and
 * the one that counts is touched last: at every instant one of the two is whole.
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

/** Gives an image up: afterwards there is none, and its extents may be written over. */
export async function invalidate(store: WritableBlockStore, copies: readonly SuperblockCopy[]): Promise<void> {
  for (const copy of olderFirst(copies)) {
    await writeBytes(store, COPY_OFFSET_BYTES[copy], new Uint8Array(SUPERBLOCK_BYTES))
    // Each before the next, lest an older copy outlive the newer one and lead to extents that are long reused.
    await store.flush()
  }
}

/**
 * Zeroes what is reserved at the start of a store that held no image, and the end of it, so that no partition
 * table or file system seems to be on it afterwards: a backup GPT at the end would invite a tool to "repair" the one
 * that was here over a superblock. What was there could be lost by leave of the write guard.
 *
 * @param kept extents that stay as they are, since every byte of them will be read or written before publication.
 */
export async function clearEnds(store: WritableBlockStore, kept: readonly Extent[]): Promise<void> {
  const { blockBytes, capacityBytes, dma } = store
  const tailStart = Math.max(DATA_START_BYTES, capacityBytes - SIGNATURE_REACH_BYTES)
  const { memory, bytes } = allocateHostBuffer(dma, DATA_START_BYTES)
  try {
    bytes.fill(0)
    const zero = async (fromBytes: number, toBytes: number) => {
      const lengthBytes = toBytes - fromBytes
      if (lengthBytes > 0) await store.write([{ offsetBytes: fromBytes, lengthBytes, memoryBytes: 0 }], memory)
    }
    await zero(0, DATA_START_BYTES)
    for (const { offsetBytes, lengthBytes } of holesBetween(kept, capacityBytes)) {
      await zero(Math.max(tailStart, offsetBytes), offsetBytes + lengthBytes)
    }
    // Extents are whole 4096s; the rest of a store that is none belongs to nobody.
    await zero(Math.max(tailStart, capacityBytes - (capacityBytes % ALIGNMENT_BYTES)), capacityBytes)
    // Copies that some formats keep far from both ends would be found again, and have to be named again, at every pack.
    const source = {
      capacityBytes,
      blockBytes,
      readBytes: (at: number, length: number) => readBytes(store, at, length),
    }
    const isKept = (place: number) =>
      kept.some(({ offsetBytes, lengthBytes }) => place >= offsetBytes && place < alignUp(offsetBytes + lengthBytes))
    for (const { places } of await findSignatures(source)) {
      for (const place of places) {
        const block = Math.floor(place / blockBytes) * blockBytes
        if (!isKept(place)) await zero(block, block + blockBytes)
      }
    }
  } finally {
    memory.free()
  }
}

/** Writes bytes, or none, at an aligned offset, with zeros up to the next one, and waits until they are written. */
export async function writeBytes(
  store: WritableBlockStore,
  offsetBytes: number,
  content: Uint8Array,
  signal?: AbortSignal,
): Promise<void> {
  const lengthBytes = alignUp(content.byteLength)
  if (lengthBytes === 0) return
  const { memory, bytes } = allocateHostBuffer(store.dma, lengthBytes)
  try {
    bytes.set(content)
    await store.write([{ offsetBytes, lengthBytes, memoryBytes: 0 }], memory, signal && { signal })
  } finally {
    memory.free()
  }
}

/** Damaged copies before sound ones, lower generations before higher: the copy to lose last comes last. */
function olderFirst(copies: readonly SuperblockCopy[]): CopyName[] {
  const generationOf = ({ superblock }: SuperblockCopy) => superblock?.generation ?? 0
  return [...copies].sort((a, b) => generationOf(a) - generationOf(b)).map(({ copy }) => copy)
}
