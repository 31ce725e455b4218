import { BufferedTransfers } from '../flow/buffers.js'
import { clearEnds } from '../pack/publish.js'
import { asWritableStore, type Writable } from '../store/as-store.js'
import { piecesOf, type WritableBlockStore } from '../store/store.js'
import type { WritableBlockSet } from './block-set.js'
import { bouncedStore } from './bounced-store.js'
import { MEMBER_DATA_BYTES } from './format.js'
import { identify, memberTruncated } from './identify.js'
import { openSet, type OpenSetOptions } from './open-set.js'
import { Problems } from './problem.js'
import { SetMemory } from './set-memory.js'
import { refuseInUse } from './store-use.js'
import { writeLabel } from './write-label.js'

/** Options of the rebuild of a mirror. */
export interface RebuildOptions extends OpenSetOptions {
  /** Allows the loss of the content of a store that replaces a member. */
  readonly replace?: boolean
  /** Called as bytes are copied. */
  readonly onProgress?: (progress: { readonly doneBytes: number; readonly totalBytes: number }) => void
}

/** With pieces of 4 MiB: keeps two drives busy, one that is read and one that is written. */
const PIECE_BYTES = 4 * 1024 * 1024
const BUFFERS = 8

/**
 * Restores a degraded mirror: copies all data to stale members, and to stores that replace missing members. Nothing
 * else may write to the mirror meanwhile. An interruption does not change the members that are up to date; a target may
 * then have no label. A new call starts from the beginning.
 * @param members all stores of the mirror in any order: its members and their replacements.
 * @returns the open mirror, without members lost meanwhile, which become stale.
 * @throws TypeError for a stripe; RangeError for more stores than places; LoaderError (MEMBER_IN_USE; MEMBER_TRUNCATED
 * for a store that is too small; READ_ONLY); errors of `openSet`, and of a member's `read` and `write`.
 */
export async function rebuildMirror(
  members: readonly Writable[],
  { replace = false, onProgress, ...opening }: RebuildOptions = {},
): Promise<WritableBlockSet> {
  const stores = members.map(asWritableStore)
  const set = await openSet(stores, opening)
  if (set.kind !== 'mirror')
    throw new TypeError('rebuildMirror: expected a mirror, got a stripe, which has no redundancy')
  const labelled = await identify(stores, new Problems(), opening.signal)
  const isLive = (index: number) => set.members[index]!.state === 'live'
  const free = set.members.filter(
    ({ index, state }) => state !== 'live' && !labelled.some((each) => each.label.index === index),
  )
  const strangers = stores.filter((store) => !labelled.some((each) => each.store === store))
  if (strangers.length > free.length) {
    throw new RangeError(
      `rebuildMirror: expected at most ${free.length} stores that are not members, got ${strangers.length}`,
    )
  }
  const targets = [
    ...labelled.filter(({ label }) => !isLive(label.index)).map(({ store, label }) => ({ store, index: label.index })),
    ...strangers.map((store, at) => ({ store, index: free[at]!.index })),
  ]
  for (const { store, index } of targets) {
    const neededBytes = MEMBER_DATA_BYTES + set.capacityBytes
    if (store.capacityBytes < neededBytes) throw memberTruncated(index, store, neededBytes)
  }
  if (!replace) await refuseInUse(strangers, opening.signal && { signal: opening.signal })

  const totalBytes = targets.length * set.capacityBytes
  let doneBytes = 0
  for (const { store } of targets) {
    await clearEnds(store, [])
    await copyAll(set, store, opening.signal, (bytes) => onProgress?.({ doneBytes: (doneBytes += bytes), totalBytes }))
  }
  if (targets.length > 0) {
    // A member lost during the copy cannot be labelled; another one delivered the remaining bytes.
    const live = labelled.filter(({ label }) => isLive(label.index))
    const { label } = live[0]!
    const current = [...live.map((each) => each.label), ...targets].reduce((mask, { index }) => mask + 2 ** index, 0)
    const next = { ...label, epoch: label.epoch + 1, current }
    // The up-to-date members are labelled first: a target is unchanged until it has its label.
    for (const each of live) await writeLabel(each.store, { ...next, index: each.label.index })
    for (const { store, index } of targets) await writeLabel(store, { ...next, index })
  }
  const lost = labelled.filter(({ label }) => set.members[label.index]!.state === 'lost')
  return openSet(
    stores.filter((store) => !lost.some((each) => each.store === store)),
    opening,
  )
}

async function copyAll(
  from: WritableBlockSet,
  to: WritableBlockStore,
  signal: AbortSignal | undefined,
  onBytes: (bytes: number) => void,
): Promise<void> {
  const target = new SetMemory(from.dma).isReachedBy(to.dma) ? to : bouncedStore(to)
  const limits = { ...(signal && { signal }) }
  const all = { offsetBytes: 0, lengthBytes: from.capacityBytes, memoryBytes: 0 }
  await using copies = new BufferedTransfers(from.dma, BUFFERS, PIECE_BYTES, signal)
  await copies.each(piecesOf([all], PIECE_BYTES), async ({ offsetBytes, lengthBytes }, { memory }) => {
    await from.read([{ offsetBytes, lengthBytes, memoryBytes: 0 }], memory, limits)
    const onTarget = { offsetBytes: MEMBER_DATA_BYTES + offsetBytes, lengthBytes, memoryBytes: 0 }
    await target.write([onTarget], memory, limits)
    onBytes(lengthBytes)
  })
  await to.flush()
}
