import { randomBytes } from 'node:crypto'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { readCopies } from '../image/copies.js'
import { refuseUnmoved } from '../image/moves-no-data.js'
import { clearEnds } from '../pack/publish.js'
import { asStore, type Writable } from '../store/as-store.js'
import type { WritableBlockStore } from '../store/store.js'
import type { WritableBlockSet } from './block-set.js'
import {
  DEFAULT_UNIT_BYTES,
  LEAST_UNIT_BYTES,
  MEMBER_DATA_BYTES,
  MOST_MEMBERS,
  MOST_UNIT_BYTES,
  SET_ALIGNMENT_BYTES,
} from './format.js'
import type { SetLabel } from './label.js'
import { openSet, type OpenSetOptions } from './open-set.js'
import { patternOf, wholeWeights } from './pattern.js'
import { Placement } from './placement.js'
import { readLabel } from './read-labels.js'
import { eraseLabel, writeLabel } from './write-label.js'

export interface CreateSetOptions extends OpenSetOptions {
  /** Gives up what members hold: an image, or the set that they are of. */
  readonly replace?: boolean
  /** 16 bytes; random when not given. The same ones twice would make two sets look like one. */
  readonly setId?: Uint8Array
}

export interface CreateStripeOptions extends CreateSetOptions {
  /** Bytes of a unit: a power of two from 4 KiB, a multiple of every block, to 64 MiB; 1 MiB when not given. */
  readonly unitBytes?: number
  /** How much of the stripe each member gets, in any unit, as `measureWeights` gives it; all the same when not given. */
  readonly weights?: readonly number[]
}

const WRITER = '@gpunvme/layer-loader'
const ID_BYTES = 16

/**
 * Makes a stripe of stores, in this order: their speed and their room add up, and the loss of one is the end of all. What
 * they hold is lost. Resolves with the set, opened and empty.
 * @throws RangeError, TypeError for wrong arguments; MemberInUseError; what openSet throws; whatever a write throws, by
 *   the guard of a drive ForeignDataError: then it may be that no set is left on the members.
 */
export async function createStripe(
  members: readonly Writable[],
  options: CreateStripeOptions = {},
): Promise<WritableBlockSet> {
  const stores = checkMembers('createStripe', members)
  const { unitBytes = DEFAULT_UNIT_BYTES, weights = stores.map(() => 1) } = options
  const leastBytes = stores.reduce((most, { blockBytes }) => Math.max(most, blockBytes), LEAST_UNIT_BYTES)
  if (!Number.isInteger(Math.log2(unitBytes)) || unitBytes < leastBytes || unitBytes > MOST_UNIT_BYTES) {
    throw new RangeError(
      `unitBytes: expected a power of two from ${leastBytes} to ${MOST_UNIT_BYTES}, got ${unitBytes}`,
    )
  }
  if (weights.length !== stores.length) {
    throw new RangeError(`weights: expected ${stores.length} numbers, got ${weights.length}`)
  }
  const pattern = patternOf(wholeWeights(weights))
  const placement = new Placement(stores.length, pattern, unitBytes)
  const setBytes = placement.capacityOver(stores.map(({ capacityBytes }) => capacityBytes - MEMBER_DATA_BYTES))
  const shares = placement.sharesOf(setBytes)
  return create(stores, options, (index) => ({
    kind: 'stripe',
    unitBytes,
    pattern,
    setBytes,
    dataBytes: shares[index]!,
  }))
}

/**
 * Makes a mirror of stores: each has everything, as much as the smallest has room for, and reads are divided between
 * them. What they hold is lost. Resolves with the set, opened and empty.
 * @throws as `createStripe`.
 */
export async function createMirror(
  members: readonly Writable[],
  options: CreateSetOptions = {},
): Promise<WritableBlockSet> {
  const stores = checkMembers('createMirror', members)
  const leastBytes =
    stores.reduce((least, { capacityBytes }) => Math.min(least, capacityBytes), Infinity) - MEMBER_DATA_BYTES
  const granuleBytes = stores.reduce((most, { blockBytes }) => Math.max(most, blockBytes), SET_ALIGNMENT_BYTES)
  const setBytes = Math.floor(leastBytes / granuleBytes) * granuleBytes
  return create(stores, options, () => ({
    kind: 'mirror',
    unitBytes: 0,
    pattern: new Uint8Array(),
    setBytes,
    dataBytes: setBytes,
  }))
}

/**
 * Takes the labels off members of a set: what lies on it is lost, unless they are the ends of a mirror whose other
 * members stay. They can hold an image, or be members of another set, afterwards.
 * @throws what a write throws.
 */
export async function eraseSet(members: readonly Writable[]): Promise<void> {
  for (const member of members) await eraseLabel(asStore(member))
}

function checkMembers(name: string, members: readonly Writable[]): WritableBlockStore[] {
  if (!Array.isArray(members) || members.length < 2 || members.length > MOST_MEMBERS) {
    throw new RangeError(`${name}: expected 2 to ${MOST_MEMBERS} members`)
  }
  const stores = members.map((member: Writable) => asStore(member))
  if (new Set(stores).size < stores.length) throw new TypeError(`${name}: expected each member once, got one twice`)
  for (const store of stores) {
    refuseUnmoved(store)
    const { name: of, capacityBytes } = store
    const neededBytes = 2 * MEMBER_DATA_BYTES
    if (capacityBytes < neededBytes) {
      throw new RangeError(`${name}: ${of} has ${capacityBytes} bytes, expected at least ${neededBytes}`)
    }
  }
  return stores
}

type Layout = Pick<SetLabel, 'kind' | 'unitBytes' | 'pattern' | 'setBytes' | 'dataBytes'>

async function create(
  stores: readonly WritableBlockStore[],
  { replace = false, setId = randomBytes(ID_BYTES), ...opening }: CreateSetOptions,
  layoutOf: (index: number) => Layout,
): Promise<WritableBlockSet> {
  if (setId.length !== ID_BYTES) throw new RangeError(`setId: expected ${ID_BYTES} bytes, got ${setId.length}`)
  const layouts = stores.map((_, index) => layoutOf(index))
  const empty = layouts.findIndex(({ dataBytes }) => dataBytes === 0)
  if (empty >= 0) throw new RangeError(`weights: expected room on each member, got none on ${stores[empty]!.name}`)
  const { signal } = opening
  // All of them before the first is touched.
  if (!replace) for (const store of stores) await refuseInUse(store, signal)
  signal?.throwIfAborted()
  for (const store of stores) {
    await clearEnds(store, [])
    await store.flush()
  }
  const current = 2 ** stores.length - 1
  const shared = {
    setId: Buffer.from(setId).toString('hex'),
    members: stores.length,
    epoch: 1,
    current,
    writer: WRITER,
  }
  await Promise.all(stores.map((store, index) => writeLabel(store, { ...shared, ...layouts[index]!, index })))
  const set = await openSet(stores, opening)
  // What an earlier set of the same shape held would be found again.
  await clearEnds(set, [])
  await set.flush()
  return set
}

/** @throws MemberInUseError for a store that holds an image, or is a member of a set. */
export async function refuseInUse(store: WritableBlockStore, signal: AbortSignal | undefined): Promise<void> {
  const limits = signal && { signal }
  const { ours, label } = await readLabel(store, limits)
  if (ours) {
    throw new MemberInUseError(
      store,
      label
        ? `it is member ${label.index} of a ${label.kind} of ${label.members}`
        : 'it has what is left of a label of a set',
    )
  }
  if ((await readCopies(store, limits)).some((copy) => copy.ours))
    throw new MemberInUseError(store, 'it has a model image')
}

/** A store holds an image, or is a member of a set, and nobody said that it may be given up. Nothing was written. */
export class MemberInUseError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MEMBER_IN_USE'
  readonly category = 'privilege'

  constructor({ name }: WritableBlockStore, what: string) {
    super(`${name} is in use; nothing was written`, {
      facts: [what],
      next: 'choose another store, or pass { replace: true } to give up what is there',
    })
  }
}
