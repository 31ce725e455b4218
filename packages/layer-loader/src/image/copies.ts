import { TransferError } from '@gpunvme/host-driver'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { hasLabelMagic } from '../sets/label.js'
import { behindMember } from '../sets/member-error.js'
import { SourceReadError } from '../formats/file-source.js'
import { systemCode } from '../store/file-store-blocks.js'
import { readBytes } from '../store/read-bytes.js'
import type { BlockStore } from '../store/store.js'
import { COPY_OFFSET_BYTES, DATA_START_BYTES, SUPERBLOCK_BYTES, type CopyName } from './format.js'
import { refuseUnmoved } from './moves-no-data.js'
import { ImageTruncatedError } from './truncated.js'
import { decodeSuperblock, hasMagic, SuperblockError, UnsupportedImageError, type Superblock } from './superblock.js'

/** What was found where one copy of the superblock belongs. */
export interface SuperblockCopy {
  readonly copy: CopyName
  /** Absent when the copy cannot be used. */
  readonly superblock?: Superblock
  /** Why it cannot be used; absent too where the store ends before the copy does. */
  readonly problem?: GpuNvmeError
  /** Whether it starts as an image does, or cannot be read and so might. */
  readonly ours: boolean
}

/**
 * Reads both copies and judges neither. A media error counts as damage of the copy; anything else is thrown.
 * @throws MemberOfSetError; UnverifiableMediaError.
 */
export async function readCopies(store: BlockStore, options?: ExecuteOptions): Promise<SuperblockCopy[]> {
  refuseUnmoved(store)
  return Promise.all((['A', 'B'] as const).map((copy) => readCopy(store, copy, options)))
}

async function readCopy(store: BlockStore, copy: CopyName, options?: ExecuteOptions): Promise<SuperblockCopy> {
  const offsetBytes = COPY_OFFSET_BYTES[copy]
  const lengthBytes = Math.min(SUPERBLOCK_BYTES, store.capacityBytes - offsetBytes)
  if (lengthBytes <= 0) return { copy, ours: false }
  try {
    const encoded = await readBytes(store, offsetBytes, lengthBytes, options)
    if (hasLabelMagic(encoded)) throw new MemberOfSetError(store)
    const ours = hasMagic(encoded)
    if (lengthBytes < SUPERBLOCK_BYTES) return { copy, ours }
    try {
      return { copy, superblock: decodeSuperblock(copy, encoded), ours }
    } catch (problem) {
      if (problem instanceof SuperblockError || problem instanceof UnsupportedImageError) return { copy, problem, ours }
      throw problem
    }
  } catch (problem) {
    if (isMediaError(problem)) return { copy, problem, ours: true }
    throw problem
  }
}

/** Status Code Type 2h: Media and Data Integrity Errors (Base 2.1 Figure 106). */
const MEDIA_ERRORS = 2

/**
 * Whether the controller answered, and said that it cannot give these blocks, or the system that it could not read them:
 * others may still be read.
 */
export function isMediaError(error: unknown): error is GpuNvmeError {
  const behind = behindMember(error)
  if (behind instanceof SourceReadError) return systemCode(behind.cause) === 'EIO'
  return (
    behind instanceof TransferError &&
    behind.failures.every(({ outcome }) => outcome.kind === 'status' && outcome.sct === MEDIA_ERRORS)
  )
}

/**
 * The copy that counts: the valid one with the highest generation.
 * @throws UnsupportedImageError when either copy is of a later version; ImageNotFoundError when neither copy is a
 * superblock at all; ImageTruncatedError when the store ends before the image does; SuperblockError or
 * TransferError when what is there cannot be used.
 */
export function liveSuperblock(store: BlockStore, copies: readonly SuperblockCopy[]): Superblock {
  const newer = copies.find(({ problem }) => problem instanceof UnsupportedImageError)
  // Which of the two is live cannot be told: a later version may count generations in another way.
  if (newer?.problem !== undefined) throw newer.problem
  const sound = copies.flatMap(({ copy, superblock }) => (superblock ? [{ copy, superblock }] : []))
  const [first, second] = sound.sort((a, b) => b.superblock.generation - a.superblock.generation)
  if (first === undefined) {
    const damaged = copies.find(({ ours }) => ours)
    if (damaged === undefined) throw new ImageNotFoundError(store)
    const cutOff = store.capacityBytes <= DATA_START_BYTES && !isMediaError(damaged.problem)
    throw cutOff ? new ImageTruncatedError(store) : damaged.problem!
  }
  if (second !== undefined) refuseDisagreement(first.superblock, second.copy, second.superblock)
  const { usedEndBytes } = first.superblock
  if (usedEndBytes > store.capacityBytes) throw new ImageTruncatedError(store, usedEndBytes)
  return first.superblock
}

/** Two copies of one generation are one publication; nothing that could happen to a drive makes two of them. */
function refuseDisagreement(live: Superblock, copy: CopyName, other: Superblock): void {
  if (live.generation !== other.generation) return
  const same = JSON.stringify(live) === JSON.stringify(other)
  if (!same)
    throw new SuperblockError(copy, 'GENERATION', 'a copy equal to the other of its generation', 'another image')
}

/** The store holds no image. */
export class ImageNotFoundError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NO_IMAGE'
  readonly category = 'not-found'

  constructor({ name, capacityBytes }: BlockStore) {
    super(`No model image on ${name}`, {
      facts: [
        `no superblock at byte ${COPY_OFFSET_BYTES.A} or ${COPY_OFFSET_BYTES.B}`,
        `it has ${capacityBytes} bytes`,
      ],
      next: 'write a model to it with pack()',
    })
  }
}

/** The store is one of several that are a set: what lies on it makes sense only with the others. Nothing was written. */
export class MemberOfSetError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MEMBER_OF_SET'
  readonly category = 'usage'

  constructor({ name }: BlockStore) {
    super(`${name} is a member of a set and holds no image of its own`, {
      facts: ['the label of a set is where the superblock of an image would be'],
      next: 'open the set with openSet() from all of its members; eraseSet() gives it up',
    })
  }
}
