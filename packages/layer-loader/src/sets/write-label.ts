import { writeBytes } from '../pack/publish.js'
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

/** Takes a store's label away: it is no member of a set any more. */
export async function eraseLabel(store: WritableBlockStore): Promise<void> {
  const { order } = await readLabel(store)
  for (const copy of order) {
    await writeBytes(store, LABEL_OFFSET_BYTES[copy], new Uint8Array(LABEL_BYTES))
    await store.flush()
  }
}
