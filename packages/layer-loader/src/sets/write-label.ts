import { COPY_OFFSET_BYTES, RECORD_BYTES } from '../image/format.js'
import { writeBytes } from '../pack/publish.js'
import { asStore, type Writable } from '../store/as-store.js'
import type { WritableBlockStore } from '../store/store.js'
import { encodeLabel, type SetLabel } from './label.js'
import { readLabel } from './read-labels.js'

/** Writes both copies, each flushed before the other is written: at any time, one is valid. */
export async function writeLabel(store: WritableBlockStore, label: SetLabel): Promise<void> {
  const { order } = await readLabel(store)
  for (const copy of order) {
    await writeBytes(store, COPY_OFFSET_BYTES[copy], encodeLabel(copy, label))
    await store.flush()
  }
}

/**
 * Writes the labels of a new set: copy B of all members, then copy A of all members. There is no set until the last
 * copy B is written, and no member has a copy A before: an interrupted creation can be distinguished from a set that
 * lost a member.
 */
export async function writeNewLabels(
  stores: readonly WritableBlockStore[],
  labelOf: (index: number) => SetLabel,
): Promise<void> {
  for (const copy of ['B', 'A'] as const) {
    await Promise.all(
      stores.map(async (store, index) => {
        await writeBytes(store, COPY_OFFSET_BYTES[copy], encodeLabel(copy, labelOf(index)))
        await store.flush()
      }),
    )
  }
}

/**
 * Writes the missing copies A of a complete set whose creation was interrupted: afterwards, a single remaining member
 * does not look like an unfinished set.
 */
export async function completeLabels(members: readonly Writable[]): Promise<void> {
  for (const store of members.map((member: Writable) => asStore(member))) {
    const { isHalf, label } = await readLabel(store)
    if (isHalf && label !== undefined) await writeLabel(store, label)
  }
}

/** Erases a store's label: it is no longer a member of a set. */
export async function eraseLabel(store: WritableBlockStore): Promise<void> {
  const { order } = await readLabel(store)
  for (const copy of order) {
    await writeBytes(store, COPY_OFFSET_BYTES[copy], new Uint8Array(RECORD_BYTES))
    await store.flush()
  }
}
