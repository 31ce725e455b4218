import { randomBytes } from 'node:crypto'
import { SIGNATURE_SCAN_BYTES } from '@gpunvme/host-driver'
import { refuseUnmoved } from '../image/moves-no-data.js'
import type { Extent } from '../image/format.js'
import { clearEnds, writeBytes } from '../pack/publish.js'
import { asStore, asWritableStore, refuseReadOnly, type Writable } from '../store/as-store.js'
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

/** Options of functions that create a set. */
export interface CreateSetOptions extends OpenSetOptions {
  /** Allows the loss of an image or set on the members. */
  readonly replace?: boolean
  /** 16 bytes. Default: random. Two sets with the same identifier would look like one. */
  readonly setId?: Uint8Array
}

/** Shape of a stripe. */
export interface StripeShape {
  /** Bytes of a unit: a power of two from 4 KiB to 64 MiB, and a multiple of all block sizes. Default: 1 MiB. */
  readonly unitBytes?: number
  /** Relative shares of the members, in any unit, as returned by `measureWeights`. Default: equal. */
  readonly weights?: readonly number[]
}

/** Options of `createStripe`. */
export interface CreateStripeOptions extends CreateSetOptions, StripeShape {}

const WRITER = '@gpunvme/layer-loader'
const ID_BYTES = 16

/** Layout of a set that has not been created yet. */
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
    this.blockBytes = stores.reduce((max, { blockBytes }) => Math.max(max, blockBytes), 0)
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
    const tailBytes = Math.max(0, capacityBytes - SIGNATURE_SCAN_BYTES)
    const tails = this.sharesOf(Math.floor(tailBytes / granuleBytes) * granuleBytes)
    return this.stores.map(({ capacityBytes: memberBytes }, index) => {
      const headEnd = MEMBER_DATA_BYTES + Math.max(MEMBER_DATA_BYTES, heads[index]!)
      const tailStart = Math.min(MEMBER_DATA_BYTES + tails[index]!, memberBytes - SIGNATURE_SCAN_BYTES)
      if (tailStart <= headEnd) return [{ offsetBytes: 0, lengthBytes: memberBytes }]
      return [
        { offsetBytes: 0, lengthBytes: headEnd },
        { offsetBytes: tailStart, lengthBytes: memberBytes - tailStart },
      ]
    })
  }

  /**
   * Creates the set. The members' content is lost. An interruption leaves a complete set or none.
   * @throws LoaderError (MEMBER_IN_USE, READ_ONLY); errors of openSet; errors of writing, including ForeignDataError of
   * a drive's guard: then there may be no set on the members.
   */
  async create({
    replace = false,
    setId = randomBytes(ID_BYTES),
    ...opening
  }: CreateSetOptions = {}): Promise<WritableBlockSet> {
    if (setId.length !== ID_BYTES) throw new RangeError(`setId: expected ${ID_BYTES} bytes, got ${setId.length}`)
    const { stores, layouts } = this
    const { signal } = opening
    // Checks all members before writing to the first.
    for (const store of stores) refuseReadOnly(store)
    if (!replace) await refuseInUse(stores, signal && { signal })
    signal?.throwIfAborted()
    for (const store of stores) {
      await clearEnds(store, [])
      // Zeroes the superblocks of an image in an earlier set of the same shape, which would be found again.
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
 * Lays out a stripe of stores, in this order, without writing.
 * @throws RangeError, TypeError for invalid arguments.
 */
export function planStripe(members: readonly Writable[], options: StripeShape = {}): SetPlan {
  const stores = checkMembers('createStripe', members)
  const { unitBytes = DEFAULT_UNIT_BYTES, weights = stores.map(() => 1) } = options
  const minBytes = stores.reduce((max, { blockBytes }) => Math.max(max, blockBytes), MIN_UNIT_BYTES)
  if (!Number.isInteger(Math.log2(unitBytes)) || unitBytes < minBytes || unitBytes > MAX_UNIT_BYTES) {
    throw new RangeError(`unitBytes: expected a power of two from ${minBytes} to ${MAX_UNIT_BYTES}, got ${unitBytes}`)
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

/** Lays out a mirror of stores, without writing. @throws RangeError, TypeError for invalid arguments. */
export function planMirror(members: readonly Writable[]): SetPlan {
  const stores = checkMembers('createMirror', members)
  const minBytes = stores.reduce((min, { capacityBytes }) => Math.min(min, capacityBytes), Infinity) - MEMBER_DATA_BYTES
  const granuleBytes = stores.reduce((max, { blockBytes }) => Math.max(max, blockBytes), SET_ALIGNMENT_BYTES)
  const setBytes = Math.floor(minBytes / granuleBytes) * granuleBytes
  const layout: Layout = { kind: 'mirror', unitBytes: 0, pattern: new Uint8Array(), setBytes, dataBytes: setBytes }
  return new SetPlan(
    stores,
    stores.map(() => layout),
    (bytes) => stores.map(() => bytes),
  )
}

/**
 * Creates a stripe of stores, in this order: speed and capacity add up, and the loss of one member loses all data. The
 * members' content is lost. Resolves with the open, empty set.
 * @throws the errors of `planStripe` and `SetPlan.create`.
 */
export async function createStripe(
  members: readonly Writable[],
  { unitBytes, weights, ...options }: CreateStripeOptions = {},
): Promise<WritableBlockSet> {
  const shape = { ...(unitBytes !== undefined && { unitBytes }), ...(weights !== undefined && { weights }) }
  return planStripe(members, shape).create(options)
}

/**
 * Creates a mirror of stores: each has all data, up to the capacity of the smallest, and reads are divided between
 * them. The members' content is lost. Resolves with the open, empty set.
 * @throws the errors of `planMirror` and `SetPlan.create`.
 */
export async function createMirror(
  members: readonly Writable[],
  options: CreateSetOptions = {},
): Promise<WritableBlockSet> {
  return planMirror(members).create(options)
}

/**
 * Erases the labels of members. The data of the set are lost, unless other members of a mirror remain. Afterwards, the
 * stores can hold an image or join another set.
 * @throws LoaderError (READ_ONLY), before anything is erased; errors of writing.
 */
export async function eraseSet(members: readonly Writable[]): Promise<void> {
  for (const store of members.map(asWritableStore)) await eraseLabel(store)
}

function checkMembers(name: string, members: readonly Writable[]): WritableBlockStore[] {
  if (!Array.isArray(members) || members.length < 2 || members.length > MAX_MEMBERS) {
    throw new RangeError(`${name}: expected 2 to ${MAX_MEMBERS} members`)
  }
  const stores = members.map((member: Writable) => asStore(member))
  if (new Set(stores).size < stores.length) throw new TypeError(`${name}: expected different members, got one twice`)
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
