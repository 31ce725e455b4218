import { LoaderError } from '../error.js'
import type { ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { readCopies } from '../image/copies.js'
import { writtenEndOf } from '../pack/publish-directory.js'
import { asStore, type Readable } from '../store/as-store.js'
import type { BlockStore } from '../store/store.js'
import { MEMBER_DATA_BYTES } from './format.js'
import { isUnfinished } from './identify.js'
import type { SetLabel } from './label.js'
import { readLabel } from './read-labels.js'

/** Content of a store written by this package. */
export interface StoreUse {
  /**
   * `image`: a model image, usable or not. `member`: a label of a set. `begun`: a label of a set whose creation was
   * interrupted, so that the store is free.
   */
  readonly kind: 'nothing' | 'image' | 'member' | 'begun'
  /** Which member of which set it is; absent if its label is damaged. */
  readonly member?: Pick<SetLabel, 'setId' | 'kind' | 'members' | 'index' | 'unitBytes'>
  /** Bytes from the start of the store that belong to it. Other bytes may be data of unknown format. */
  readonly claimedBytes: number
}

/** Returns what each of these stores holds. They are looked at together: an interrupted creation shows only then. */
export async function findUses(targets: readonly Readable[], options?: ExecuteOptions): Promise<StoreUse[]> {
  const stores = targets.map((target: Readable) => asStore(target))
  const labels = await Promise.all(stores.map((store) => readLabel(store, options)))
  const wasInterrupted = isUnfinished(labels)
  return Promise.all(
    stores.map(async (store, at): Promise<StoreUse> => {
      const { ours, label } = labels[at]!
      if (!ours) return imageOf(store, options)
      if (wasInterrupted) return { kind: 'begun', claimedBytes: MEMBER_DATA_BYTES }
      if (label === undefined) return { kind: 'member', claimedBytes: store.capacityBytes }
      return { kind: 'member', member: label, claimedBytes: MEMBER_DATA_BYTES + label.dataBytes }
    }),
  )
}

async function imageOf(store: BlockStore, options: ExecuteOptions | undefined): Promise<StoreUse> {
  const copies = await readCopies(store, options)
  if (!copies.some(({ ours }) => ours)) return { kind: 'nothing', claimedBytes: 0 }
  // Without a sound superblock any byte may be of the image.
  return { kind: 'image', claimedBytes: writtenEndOf(copies) || store.capacityBytes }
}

/** @throws LoaderError (MEMBER_IN_USE) for the first store that holds an image, or is a member of a set. */
export async function refuseInUse(stores: readonly BlockStore[], options?: ExecuteOptions): Promise<void> {
  const uses = await findUses(stores, options)
  for (const [at, { kind, member }] of uses.entries()) {
    if (kind === 'image') throw memberInUse(stores[at]!, 'it has a model image')
    if (kind !== 'member') continue
    throw memberInUse(
      stores[at]!,
      member === undefined
        ? 'it has what is left of a label of a set'
        : `it is member ${member.index} of a ${member.kind} of ${member.members}`,
    )
  }
}

/** A store holds an image, or is a member of a set, and the caller did not permit its loss. Nothing was written. */
export function memberInUse({ name }: BlockStore, what: string): LoaderError {
  return new LoaderError('ERR_GPUNVME_MEMBER_IN_USE', 'privilege', `${name} is in use; nothing was written`, {
    facts: [what],
    next: 'choose another store, or pass { replace: true } to discard its contents',
  })
}
