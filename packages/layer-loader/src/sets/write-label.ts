import { writeBytes } from '../pack/publish.js'
import { asStore, type Writable } from '../store/as-store.js'
import type { WritableBlockStore } from '../store/store.js'
import { LABEL_BYTES, LABEL_OFFSET_BYTES } from './format.js'
import { encodeLabel, type SetLabel } from './label.js'
import { readLabel } from './read-labels.js'

/** Writes both copies, each flushed before the other is touched: at every instant one of them is whole. */
export async function writeLabel(store: WritableBlockStore, label: SetLabel): Promise<void> {
  const { order } = await readLabel(store)
  for (const copy of order) {
    await writeBytes(store, LABEL_OFFSET_BYTES[copy], encodeLabel(copy, label))
    await store.flush()
  }
}

/**
 * Writes the labels of a set that is being created: copy B of every member, then copy A of every member. Until the last
 * copy B is written there is no set, and no member has a copy A: an interrupted creation can be told from a set that
 * has lost a member.
 */
export async function writeNewLabels(
  stores: readonly WritableBlockStore[],
  labelOf: (index: number) => SetLabel,
): Promise<void> {
  for (const copy of ['B', 'A'] as const) {
    await Promise.all(
      stores.map(async (store, index) => {
        await writeBytes(store, LABEL_OFFSET_BYTES[copy], encodeLabel(copy, labelOf(index)))
        await store.flush()
      }),
    )
  }
}

/**
 * Writes copy A of the labels of a whole set whose creation was interrupted before that: afterwards a member that is left
 * alone cannot be taken for the start of a set.
 */
export async function completeLabels(members: readonly Writable[]): Promise<void> {
  for (const store of members.map((member: Writable) => asStore(member))) {
    const { isHalf, label } = await readLabel(store)
    if (isHalf && label !== undefined) await writeLabel(store, label)
  }
}

/** Takes a store's label away: it is no member of a set any more. */
export async function eraseLabel(store: WritableBlockStore): Promise<void> {
  const { order } = await readLabel(store)
  for (const copy of order) {
    await writeBytes(store, LABEL_OFFSET_BYTES[copy], new Uint8Array(LABEL_BYTES))
    await store.flush()
  }
}
