import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { refuseUnmoved } from '../image/moves-no-data.js'
import type { BlockStore } from '../store/store.js'
import { MEMBER_DATA_BYTES } from './format.js'
import { SetLabelError, type LabelField, type SetLabel } from './label.js'
import { memberName } from './member-error.js'
import type { Problems } from './problem.js'
import { readLabel, type FoundLabel } from './read-labels.js'

/** A member whose label was read. */
export interface Labelled<S extends BlockStore> {
  readonly store: S
  readonly label: SetLabel
}

/**
 * Finds out which member each store is. @returns by index, those whose label can be used.
 * @throws SetNotFoundError, SetUnfinishedError, MixedSetsError, DuplicateMemberError, SetLabelError, UnsupportedSetError,
 *   MemberTruncatedError, UnverifiableMediaError; what a store's `read` throws.
 */
export async function identify<S extends BlockStore>(
  stores: readonly S[],
  problems: Problems,
  signal: AbortSignal | undefined,
): Promise<Labelled<S>[]> {
  return inOrder(await readLabels(stores, problems, signal))
}

/** Members with a label that can be used; what is wrong with others is a problem, or the end where there are none. */
async function readLabels<S extends BlockStore>(
  stores: readonly S[],
  problems: Problems,
  signal: AbortSignal | undefined,
): Promise<Labelled<S>[]> {
  const labelled: Labelled<S>[] = []
  const all: FoundLabel[] = []
  let damage: GpuNvmeError | undefined
  for (const store of stores) {
    refuseUnmoved(store)
    const found = await readLabel(store, signal && { signal })
    const { label, problem, ours } = found
    all.push(found)
    if (label !== undefined) {
      labelled.push({ store, label })
      if (problem !== undefined) {
        const message = `${memberName({ index: label.index, name: store.name })}: one copy of its label is damaged`
        problems.add({ kind: 'label-copy', member: label.index, message, cause: problem })
      }
    } else {
      if (problem?.category === 'infeasible') throw problem
      damage ??= problem
      const what = ours ? 'its label is damaged' : 'it has no label'
      problems.add({ kind: 'label', message: `${store.name}: ${what}`, ...(problem && { cause: problem }) })
    }
  }
  if (isUnfinished(all)) throw new SetUnfinishedError(stores, all)
  if (labelled.length === 0) throw damage ?? new SetNotFoundError(stores)
  return labelled
}

/**
 * Whether creation of the set was interrupted before each member had its first copy of the label. There is no set then,
 * and nothing was ever written to one. See `writeNewLabels`.
 */
export function isUnfinished(found: readonly FoundLabel[]): boolean {
  const labels = found.flatMap(({ label }) => (label === undefined ? [] : [label]))
  const isBegun = found.some(({ isHalf }) => isHalf) && found.every(({ ours, isHalf }) => !ours || isHalf)
  const isOfOne = labels.every(({ setId }) => setId === labels[0]!.setId)
  // A member of a mirror that is given alone may be all that is left of it.
  const lacksLabel = labels.length < found.length && labels.length < (labels[0]?.members ?? Infinity)
  return isBegun && isOfOne && lacksLabel
}

/** By index. @throws where they are not of one set, or do not agree what it is. */
function inOrder<S extends BlockStore>(labelled: readonly Labelled<S>[]): Labelled<S>[] {
  const [first] = labelled
  const ids = new Set(labelled.map(({ label }) => label.setId))
  if (ids.size > 1) throw new MixedSetsError(labelled)
  for (const { label, store } of labelled) {
    const other = labelled.find((each) => each.store !== store && each.label.index === label.index)
    if (other !== undefined) throw new DuplicateMemberError(label.index, [store.name, other.store.name])
    for (const [field, of] of SHARED) {
      const [expected, got] = [of(first!.label), of(label)]
      if (expected !== got)
        throw new SetLabelError(field, expected, got, memberName({ index: label.index, name: store.name }))
    }
    const neededBytes = MEMBER_DATA_BYTES + label.dataBytes
    if (store.capacityBytes < neededBytes) throw new MemberTruncatedError(label.index, store, neededBytes)
  }
  return labelled.toSorted((a, b) => a.label.index - b.label.index)
}

/** What the labels of a set agree on. */
const SHARED: readonly (readonly [LabelField, (label: SetLabel) => string])[] = [
  ['KIND', ({ kind }) => kind],
  ['MEMBERS', ({ members }) => String(members)],
  ['UNIT', ({ unitBytes }) => String(unitBytes)],
  ['PATTERN', ({ pattern }) => pattern.join(' ')],
  ['SET_LENGTH', ({ setBytes }) => String(setBytes)],
]

/** None of the stores is a member of a set. */
export class SetNotFoundError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NO_SET'
  readonly category = 'not-found'

  constructor(stores: readonly BlockStore[]) {
    super('No set on these stores', {
      facts: stores.map(({ name }) => `${name} has no label of a set`),
      next: 'make one with createStripe() or createMirror(); a store of its own is opened without openSet()',
    })
  }
}

/** Creation of a set was interrupted: some of its members have no label yet. There is no set. */
export class SetUnfinishedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_SET_UNFINISHED'
  readonly category = 'not-found'

  constructor(stores: readonly BlockStore[], found: readonly FoundLabel[]) {
    super('Creation of the set on these stores was interrupted', {
      facts: stores.map(({ name }, at) => `${name} has ${found[at]!.ours ? 'the first copy of a' : 'no'} label`),
      next: 'create the set again; no model was written to it',
    })
  }
}

/** The stores are members of different sets. */
export class MixedSetsError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MIXED_SETS'
  readonly category = 'usage'

  constructor(members: readonly Labelled<BlockStore>[]) {
    super('These stores are members of different sets', {
      facts: members.map(
        ({ store, label }) => `${store.name} is member ${label.index} of ${label.kind} ${label.setId}`,
      ),
      next: 'open each set with its own members',
    })
  }
}

/** Two stores say that they are the same member: one is a copy of the other. */
export class DuplicateMemberError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DUPLICATE_MEMBER'
  readonly category = 'usage'
  readonly member: number

  constructor(member: number, names: readonly string[]) {
    super(`Two stores are member ${member} of this set`, {
      facts: names.map((name) => `${name} has that label`),
      next: 'leave out the one that is a copy',
    })
    this.member = member
  }
}

/** A member ends before what the set has on it does. */
export class MemberTruncatedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MEMBER_TRUNCATED'
  readonly category = 'infeasible'

  constructor(index: number, { name, capacityBytes }: BlockStore, neededBytes: number) {
    super(`${memberName({ index, name })} is shorter than what the set has on it`, {
      facts: [`needed: ${neededBytes} bytes`, `available: ${capacityBytes} bytes`],
      next: 'it is a copy that was cut off: use the whole drive, or a larger one',
    })
  }
}
