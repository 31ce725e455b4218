import { LoaderError, hasCode } from '../error.js'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { LABELS } from '../sets/label.js'
import type { BlockStore } from '../store/store.js'
import { COPY_OFFSET_BYTES, DATA_START_BYTES, type CopyName } from './format.js'
import { refuseUnmoved } from './moves-no-data.js'
import { isMediaError, type RecordCopy } from './sealed-record.js'
import { SuperblockError, SUPERBLOCKS, type Superblock } from './superblock.js'
import { imageTruncated } from './truncated.js'

/** Content at the location of a superblock copy. */
export interface SuperblockCopy extends Omit<RecordCopy<Superblock>, 'content' | 'encoded'> {
  /** Absent if the copy is unusable. */
  readonly superblock?: Superblock
}

/**
 * Reads both copies without judging them. A media error counts as a damaged copy; other errors are thrown.
 * @throws LoaderError (MEMBER_OF_SET, UNVERIFIABLE_MEDIA)
 */
export async function readCopies(store: BlockStore, options?: ExecuteOptions): Promise<SuperblockCopy[]> {
  refuseUnmoved(store)
  const copies = await Promise.all((['A', 'B'] as const).map((copy) => readCopy(store, copy, options)))
  return copies.some(({ superblock }) => superblock !== undefined) ? copies : copies.map(withoutOther)
}

/** No valid copy is left to repair this one from. */
function withoutOther({ problem, ...found }: SuperblockCopy): SuperblockCopy {
  if (!(problem instanceof SuperblockError)) return problem === undefined ? found : { ...found, problem }
  const { copy, field, expected, got } = problem
  return { ...found, problem: new SuperblockError(copy, field, expected, got, 'replace-image') }
}

async function readCopy(store: BlockStore, copy: CopyName, options?: ExecuteOptions): Promise<SuperblockCopy> {
  const { content, encoded, ...found } = await SUPERBLOCKS.read(store, copy, options)
  if (content !== undefined) return { ...found, superblock: content }
  if (encoded !== undefined && LABELS.isIn(encoded)) throw memberOfSet(store)
  return found
}

/**
 * Returns the live copy: the valid one with the highest generation.
 * @throws LoaderError (IMAGE_UNSUPPORTED, NO_IMAGE, IMAGE_TRUNCATED): either copy has a later version, there is no
 * superblock, or the store ends before the image. SuperblockError or TransferError if the copies are unusable.
 */
export function liveSuperblock(store: BlockStore, copies: readonly SuperblockCopy[]): Superblock {
  const newer = copies.find(({ problem }) => hasCode(problem, 'ERR_GPUNVME_IMAGE_UNSUPPORTED'))
  // Which one is live is unknown: a later version may count generations differently.
  if (newer?.problem !== undefined) throw newer.problem
  const sound = copies.flatMap(({ copy, superblock }) => (superblock ? [{ copy, superblock }] : []))
  const [first, second] = sound.sort((a, b) => b.superblock.generation - a.superblock.generation)
  if (first === undefined) {
    const damaged = copies.find(({ ours }) => ours)
    if (damaged === undefined) throw imageNotFound(store)
    const cutOff = store.capacityBytes <= DATA_START_BYTES && !isMediaError(damaged.problem)
    throw cutOff ? imageTruncated(store) : damaged.problem!
  }
  if (second !== undefined) refuseDisagreement(first.superblock, second.copy, second.superblock)
  const { usedEndBytes } = first.superblock
  if (usedEndBytes > store.capacityBytes) throw imageTruncated(store, usedEndBytes)
  return first.superblock
}

/** Two copies of one generation belong to one publication; no fault of a drive creates two different ones. */
function refuseDisagreement(live: Superblock, copy: CopyName, other: Superblock): void {
  if (live.generation !== other.generation) return
  const same = JSON.stringify(live) === JSON.stringify(other)
  if (same) return
  const expected = 'the content of the other copy of this generation'
  throw new SuperblockError(copy, 'GENERATION', expected, 'another image', 'replace-image')
}

/** Error of a store without an image. */
export function imageNotFound({ name, capacityBytes }: BlockStore): LoaderError {
  return new LoaderError('ERR_GPUNVME_NO_IMAGE', 'not-found', `No model image on ${name}`, {
    facts: [
      `no superblock at byte ${COPY_OFFSET_BYTES.A} or ${COPY_OFFSET_BYTES.B}`,
      `the store has ${capacityBytes} bytes`,
    ],
    next: 'write a model with pack()',
  })
}

/** Error of a store that is a member of a set: its data are usable only with the other members. Nothing was written. */
export function memberOfSet({ name }: BlockStore): LoaderError {
  const headline = `${name} is a member of a set and has no image of its own`
  return new LoaderError('ERR_GPUNVME_MEMBER_OF_SET', 'usage', headline, {
    facts: ['it has the label of a set in place of a superblock'],
    next: 'open the set with openSet() from all its members; eraseSet() removes it',
  })
}
