import { LoaderError } from '../error.js'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { refuseUnmoved } from '../image/moves-no-data.js'
import type { BlockStore } from '../store/store.js'
import { MEMBER_DATA_BYTES } from './format.js'
import { SetLabelError, type LabelField, type SetLabel } from './label.js'
import { memberName } from './member-error.js'
import type { Problems } from './problem.js'
import { readLabel, type FoundLabel } from './read-labels.js'

/** A member with its label. */
export interface Labelled<S extends BlockStore> {
  readonly store: S
  readonly label: SetLabel
}

/**
 * Identifies the member on each store. @returns by index, those with a usable label.
 * @throws LoaderError (NO_SET, SET_UNFINISHED, MIXED_SETS, DUPLICATE_MEMBER, SET_UNSUPPORTED, MEMBER_TRUNCATED,
 * UNVERIFIABLE_MEDIA), SetLabelError, errors of a store's `read`.
 */
export async function identify<S extends BlockStore>(
  stores: readonly S[],
  problems: Problems,
  signal: AbortSignal | undefined,
): Promise<Labelled<S>[]> {
  return inOrder(await readLabels(stores, problems, signal))
}

/** Returns members with a usable label. Errors of others become problems, or are thrown if none is usable. */
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
  if (isUnfinished(all)) throw setUnfinished(stores, all)
  if (labelled.length === 0) throw damage ?? setNotFound(stores)
  return labelled
}

/**
 * Returns whether creation of the set was interrupted before each member had its first copy of the label. Then there is
 * no set, and no data were written to one. See `writeNewLabels`.
 */
export function isUnfinished(found: readonly FoundLabel[]): boolean {
  const labels = found.flatMap(({ label }) => (label === undefined ? [] : [label]))
  const isBegun = found.some(({ isHalf }) => isHalf) && found.every(({ ours, isHalf }) => !ours || isHalf)
  const isOfOne = labels.every(({ setId }) => setId === labels[0]!.setId)
  // A single member of a mirror may be the only one left.
  const lacksLabel = labels.length < found.length && labels.length < (labels[0]?.members ?? Infinity)
  return isBegun && isOfOne && lacksLabel
}

/** Orders members by index. @throws if they belong to different sets, or their labels disagree. */
function inOrder<S extends BlockStore>(labelled: readonly Labelled<S>[]): Labelled<S>[] {
  const [first] = labelled
  const ids = new Set(labelled.map(({ label }) => label.setId))
  if (ids.size > 1) throw mixedSets(labelled)
  for (const { label, store } of labelled) {
    const other = labelled.find((each) => each.store !== store && each.label.index === label.index)
    if (other !== undefined) throw duplicateMember(label.index, [store.name, other.store.name])
    for (const [field, of] of SHARED) {
      const [expected, got] = [of(first!.label), of(label)]
      if (expected !== got)
        throw new SetLabelError(field, expected, got, memberName({ index: label.index, name: store.name }))
    }
    const neededBytes = MEMBER_DATA_BYTES + label.dataBytes
    if (store.capacityBytes < neededBytes) throw memberTruncated(label.index, store, neededBytes)
  }
  return labelled.toSorted((a, b) => a.label.index - b.label.index)
}

/** Fields that all labels of a set share. */
const SHARED: readonly (readonly [LabelField, (label: SetLabel) => string])[] = [
  ['KIND', ({ kind }) => kind],
  ['MEMBERS', ({ members }) => String(members)],
  ['UNIT', ({ unitBytes }) => String(unitBytes)],
  ['PATTERN', ({ pattern }) => pattern.join(' ')],
  ['SET_LENGTH', ({ setBytes }) => String(setBytes)],
]

/** Error of stores without a set. */
export function setNotFound(stores: readonly BlockStore[]): LoaderError {
  return new LoaderError('ERR_GPUNVME_NO_SET', 'not-found', 'No set on these stores', {
    facts: stores.map(({ name }) => `${name} has no set label`),
    next: 'create a set with createStripe() or createMirror(); open a single store without openSet()',
  })
}

/** Error of a set whose creation was interrupted: some members have no label. There is no set. */
export function setUnfinished(stores: readonly BlockStore[], found: readonly FoundLabel[]): LoaderError {
  const headline = 'Creation of the set on these stores was interrupted'
  return new LoaderError('ERR_GPUNVME_SET_UNFINISHED', 'not-found', headline, {
    facts: stores.map(({ name }, at) => `${name} has ${found[at]!.ours ? 'the first copy of a' : 'no'} label`),
    next: 'create the set again; no model was written to it',
  })
}

/** Error of members of different sets. */
export function mixedSets(members: readonly Labelled<BlockStore>[]): LoaderError {
  return new LoaderError('ERR_GPUNVME_MIXED_SETS', 'usage', 'These stores are members of different sets', {
    facts: members.map(({ store, label }) => `${store.name} is member ${label.index} of ${label.kind} ${label.setId}`),
    next: 'open each set with its own members',
  })
}

/** Error of two stores with the same label: one is a copy of the other. */
export function duplicateMember(member: number, names: readonly string[]): LoaderError {
  return new LoaderError('ERR_GPUNVME_DUPLICATE_MEMBER', 'usage', `Two stores are member ${member} of this set`, {
    facts: names.map((name) => `${name} has this label`),
    next: 'omit the copy',
  })
}

/** Error of a member that is shorter than its part of the set. */
export function memberTruncated(index: number, { name, capacityBytes }: BlockStore, neededBytes: number): LoaderError {
  const headline = `${memberName({ index, name })} is shorter than its part of the set`
  return new LoaderError('ERR_GPUNVME_MEMBER_TRUNCATED', 'infeasible', headline, {
    facts: [`needed: ${neededBytes} bytes`, `available: ${capacityBytes} bytes`],
    next: 'it is a truncated copy: use the original drive, or a larger one',
  })
}
