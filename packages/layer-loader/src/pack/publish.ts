import { findSignatures, SIGNATURE_REACH_BYTES, type WritableNamespace } from '@gpunvme/host-driver'
import { allocateHostBuffer } from '../buffer-pool.js'
import type { SuperblockCopy } from '../image/copies.js'
import { alignUp, COPY_OFFSET_BYTES, DATA_START_BYTES, SUPERBLOCK_BYTES, type CopyName } from '../image/format.js'
import { encodeSuperblock, type Superblock } from '../image/superblock.js'

/**
 * Makes an image that is already on the media the live one. Each copy is flushed before the other is touched, and
 * the one that counts is touched last: at every instant one of the two is whole.
 */
export async function publish(
  namespace: WritableNamespace,
  superblock: Superblock,
  copies: readonly SuperblockCopy[],
): Promise<void> {
  await namespace.flush()
  for (const copy of olderFirst(copies)) {
    await writeBytes(namespace, COPY_OFFSET_BYTES[copy], encodeSuperblock(copy, superblock))
    await namespace.flush()
  }
}

/** Gives an image up: afterwards there is none, and its extents may be written over. */
export async function invalidate(namespace: WritableNamespace, copies: readonly SuperblockCopy[]): Promise<void> {
  for (const copy of olderFirst(copies)) {
    await writeBytes(namespace, COPY_OFFSET_BYTES[copy], new Uint8Array(SUPERBLOCK_BYTES))
    // Each before the next, lest an older copy outlive the newer one and lead to extents that are long reused.
    await namespace.flush()
  }
}

/**
 * Zeroes what is reserved at the start of a namespace that held no image, and the end of it, so that no partition
 * table or file system seems to be on it afterwards: a backup GPT at the end would invite a tool to "repair" the one
 * that was here over a superblock. What was there could be lost by leave of the write guard.
 */
export async function clearEnds(namespace: WritableNamespace): Promise<void> {
  const { blockBytes, capacityBytes, dma } = namespace
  const tailBytes = Math.min(SIGNATURE_REACH_BYTES, capacityBytes - DATA_START_BYTES)
  const { memory, bytes } = allocateHostBuffer(dma, DATA_START_BYTES)
  try {
    bytes.fill(0)
    await namespace.write(0, DATA_START_BYTES / blockBytes, memory)
    await namespace.write((capacityBytes - tailBytes) / blockBytes, tailBytes / blockBytes, memory)
    // Copies that some formats keep far from both ends would be found again, and have to be named again, at every pack.
    for (const { places } of await findSignatures(namespace)) {
      for (const place of places) await namespace.write(Math.floor(place / blockBytes), 1, memory)
    }
  } finally {
    memory.free()
  }
}

/** Writes bytes at an aligned offset, with zeros up to the next one, and waits until they are written. */
export async function writeBytes(
  namespace: WritableNamespace,
  offsetBytes: number,
  content: Uint8Array,
  signal?: AbortSignal,
): Promise<void> {
  const lengthBytes = alignUp(content.byteLength)
  const { blockBytes } = namespace
  const { memory, bytes } = allocateHostBuffer(namespace.dma, lengthBytes)
  try {
    bytes.set(content)
    await namespace.write(offsetBytes / blockBytes, lengthBytes / blockBytes, memory, signal && { signal })
  } finally {
    memory.free()
  }
}

/** Damaged copies before sound ones, lower generations before higher: the copy to lose last comes last. */
function olderFirst(copies: readonly SuperblockCopy[]): CopyName[] {
  const generationOf = ({ superblock }: SuperblockCopy) => superblock?.generation ?? 0
  return [...copies].sort((a, b) => generationOf(a) - generationOf(b)).map(({ copy }) => copy)
}
