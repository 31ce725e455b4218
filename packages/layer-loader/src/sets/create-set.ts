import { randomBytes } from 'node:crypto'
import { SIGNATURE_REACH_BYTES } from '@gpunvme/host-driver'
import { refuseUnmoved } from '../image/moves-no-data.js'
import type { Extent } from '../image/format.js'
import { clearEnds, writeBytes } from '../pack/publish.js'
import { asStore, type Writable } from '../store/as-store.js'
import type { WritableBlockStore } from '../store/store.js'
import type { WritableBlockSet } from './block-set.js'
import {
  DEFAULT_UNIT_BYTES,
  MIN_UNIT_BYTES,
  MEMBER_DATA_BYTES,
  MAX_MEMBERS,
  MAX_UNIT_BYTES,
  SET_ALIGNMENT_BYTES,
  type SetKind,
} from './format.js'
import type { SetLabel } from './label.js'
import { openSet, type OpenSetOptions } from './open-set.js'
import { patternOf, wholeWeights } from './pattern.js'
import { Placement } from './placement.js'
import { refuseInUse } from './store-use.js'
import { eraseLabel, writeNewLabels } from './write-label.js'

export interface CreateSetOptions extends OpenSetOptions {
  /** Gives up what members hold: an image, or the set that they are of. */
  readonly replace?: boolean
  /** 16 bytes; random when not given. The same ones twice would make two sets look like one. */
  readonly setId?: Uint8Array
}

export interface StripeShape {
  /** Bytes of a unit: a power of two from 4 KiB, a multiple of every block, to 64 MiB; 1 MiB when not given. */
  readonly unitBytes?: number
  /** How much of the stripe each member gets, in any unit, as `measureWeights` gives it; all the same when not given. */
  readonly weights?: readonly number[]
}

export interface CreateStripeOptions extends CreateSetOptions, StripeShape {}

const WRITER = '@gpunvme/layer-loader'
const ID_BYTES = 16

/** A set that is not created yet: how it would be laid out on its members. */
export class SetPlan {
  readonly kind: SetKind
  readonly capacityBytes: number
  readonly blockBytes: number
  /** Bytes of a unit; 0 in a mirror. */
  readonly unitBytes: number
  private readonly stores: readonly WritableBlockStore[]
  private readonly layouts: readonly Layout[]
  private readonly sharesOf: (setBytes: number) => readonly number[]

  /** @param sharesOf returns how many bytes of the set's first bytes lie on each member; called with whole units. */
  constructor(
    stores: readonly WritableBlockStore[],
    layouts: readonly Layout[],
    sharesOf: (setBytes: number) => readonly number[],
  ) {
    const [{ kind, unitBytes, setBytes }] = layouts as [Layout]
    this.kind = kind
    this.unitBytes = unitBytes
    this.capacityBytes = setBytes
    this.blockBytes = stores.reduce((most, { blockBytes }) => Math.max(most, blockBytes), 0)
    this.stores = stores
    this.layouts = layouts
    this.sharesOf = sharesOf
  }

  /**
   * Returns the ranges of each member that are overwritten by the creation of the set and by a first image of
   * `imageBytes` in it, in whole units.
   */
  overwritten(imageBytes: number): Extent[][] {
    const { capacityBytes, unitBytes } = this
    const granuleBytes = Math.max(unitBytes, SET_ALIGNMENT_BYTES)
    const heads = this.sharesOf(Math.min(capacityBytes, Math.ceil(imageBytes / granuleBytes) * granuleBytes))
    // The first image also clears the end of the set.
    const tailBytes = Math.max(0, capacityBytes - SIGNATURE_REACH_BYTES)
    const tails = this.sharesOf(Math.floor(tailBytes / granuleBytes) * granuleBytes)
    return this.stores.map(({ capacityBytes: memberBytes }, index) => {
      const headEnd = MEMBER_DATA_BYTES + Math.max(MEMBER_DATA_BYTES, heads[index]!)
      const tailStart = Math.min(MEMBER_DATA_BYTES + tails[index]!, memberBytes - SIGNATURE_REACH_BYTES)
      if (tailStart <= headEnd) return [{ offsetBytes: 0, lengthBytes: memberBytes }]
      return [
        { offsetBytes: 0, lengthBytes: headEnd },
        { offsetBytes: tailStart, lengthBytes: memberBytes - tailStart },
      ]
    })
  }

  /**
   * Creates the set. What its members hold is lost. Interrupted at any time, it leaves the whole set or none.
   * @throws MemberInUseError; what openSet throws; whatever a write throws, by the guard of a drive ForeignDataError:
   *   then it may be that no set is left on the members.
   */
  async create({
    replace = false,
    setId = randomBytes(ID_BYTES),
    ...opening
  }: CreateSetOptions = {}): Promise<WritableBlockSet> {
    if (setId.length !== ID_BYTES) throw new RangeError(`setId: expected ${ID_BYTES} bytes, got ${setId.length}`)
    const { stores, layouts } = this
    const { signal } = opening
    // All of them before the first is touched.
    if (!replace) await refuseInUse(stores, signal && { signal })
    signal?.throwIfAborted()
    for (const store of stores) {
      await clearEnds(store, [])
      // Where superblocks of an image in the set belong: those of an earlier set of this shape would be found again.
      await writeBytes(store, MEMBER_DATA_BYTES, new Uint8Array(MEMBER_DATA_BYTES))
      await store.flush()
    }
    const shared = {
      setId: Buffer.from(setId).toString('hex'),
      members: stores.length,
      epoch: 1,
      current: 2 ** stores.length - 1,
      writer: WRITER,
    }
    await writeNewLabels(stores, (index) => ({ ...shared, ...layouts[index]!, index }))
    return openSet(stores, opening)
  }
}

/**
 * Lays out a stripe of stores, in this order, and writes nothing.
 * @throws RangeError, TypeError for wrong arguments.
 */
export function planStripe(members: readonly Writable[], options: StripeShape = {}): SetPlan {
  const stores = checkMembers('createStripe', members)
  const { unitBytes = DEFAULT_UNIT_BYTES, weights = stores.map(() => 1) } = options
  const leastBytes = stores.reduce((most, { blockBytes }) => Math.max(most, blockBytes), MIN_UNIT_BYTES)
  if (!Number.isInteger(Math.log2(unitBytes)) || unitBytes < leastBytes || unitBytes > MAX_UNIT_BYTES) {
    throw new RangeError(`unitBytes: expected a power of two from ${leastBytes} to ${MAX_UNIT_BYTES}, got ${unitBytes}`)
  }
  if (weights.length !== stores.length) {
    throw new RangeError(`weights: expected ${stores.length} numbers, got ${weights.length}`)
  }
  const pattern = patternOf(wholeWeights(weights))
  const placement = new Placement(stores.length, pattern, unitBytes)
  const setBytes = placement.capacityOver(stores.map(({ capacityBytes }) => capacityBytes - MEMBER_DATA_BYTES))
  const shares = placement.sharesOf(setBytes)
  const empty = shares.indexOf(0)
  if (empty >= 0) throw new RangeError(`weights: expected room on each member, got none on ${stores[empty]!.name}`)
  const layouts = shares.map((dataBytes): Layout => ({ kind: 'stripe', unitBytes, pattern, setBytes, dataBytes }))
  return new SetPlan(stores, layouts, (bytes) => placement.sharesOf(bytes))
}

/** Lays out a mirror of stores, and writes nothing. @throws RangeError, TypeError for wrong arguments. */
export function planMirror(members: readonly Writable[]): SetPlan {
  const stores = checkMembers('createMirror', members)
  const leastBytes =
    stores.reduce((least, { capacityBytes }) => Math.min(least, capacityBytes), Infinity) - MEMBER_DATA_BYTES
  const granuleBytes = stores.reduce((most, { blockBytes }) => Math.max(most, blockBytes), SET_ALIGNMENT_BYTES)
  const setBytes = Math.floor(leastBytes / granuleBytes) * granuleBytes
  const layout: Layout = { kind: 'mirror', unitBytes: 0, pattern: new Uint8Array(), setBytes, dataBytes: setBytes }
  return new SetPlan(
    stores,
    stores.map(() => layout),
    (bytes) => stores.map(() => bytes),
  )
}

/**
 * Makes a stripe of stores, in this order: their speed and their room add up, and the loss of one is the end of all. What
 * they hold is lost. Resolves with the set, opened and empty.
 * @throws as `planStripe` and `SetPlan.create`.
 */
export async function createStripe(
  members: readonly Writable[],
  { unitBytes, weights, ...options }: CreateStripeOptions = {},
): Promise<WritableBlockSet> {
  const shape = { ...(unitBytes !== undefined && { unitBytes }), ...(weights !== undefined && { weights }) }
  return planStripe(members, shape).create(options)
}

/**
 * Makes a mirror of stores: each has everything, as much as the smallest has room for, and reads are divided between
 * them. What they hold is lost. Resolves with the set, opened and empty.
 * @throws as `planMirror` and `SetPlan.create`.
 */
export async function createMirror(
  members: readonly Writable[],
  options: CreateSetOptions = {},
): Promise<WritableBlockSet> {
  return planMirror(members).create(options)
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
  if (!Array.isArray(members) || members.length < 2 || members.length > MAX_MEMBERS) {
    throw new RangeError(`${name}: expected 2 to ${MAX_MEMBERS} members`)
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
