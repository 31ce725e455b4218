import { LoaderError } from '../error.js'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { asStore, type Readable, type Writable } from '../store/as-store.js'
import type { BlockStore } from '../store/store.js'
import type { Attached, BlockSet, WritableBlockSet } from './block-set.js'
import { bouncedStore, isWritable } from './bounced-store.js'
import { identify, type Labelled } from './identify.js'
import { SetLabelError, type SetLabel } from './label.js'
import { memberName } from './member-error.js'
import { measure, type Speed } from './measure.js'
import { Mirror, WritableMirror, type Absent, type MirrorParts } from './mirror.js'
import { MirrorMember } from './mirror-member.js'
import { Placement } from './placement.js'
import { Problems, type SetProblem } from './problem.js'
import { SetMemory } from './set-memory.js'
import { Stripe, WritableStripe } from './stripe.js'

/** Options of `openSet`. */
export interface OpenSetOptions {
  /**
   * Rate of each member of a mirror, by index, in bytes per second, as returned by `measureWeights`. Default: measured.
   * It only affects how the first reads are divided; later ones use observed rates.
   */
  readonly rates?: readonly number[]
  /** Allowed delay of a mirror member's read before another member repeats it, in nanoseconds. Default: 250 ms. */
  readonly stallNs?: number
  /** Called for each problem, including later ones. */
  readonly onProblem?: (problem: SetProblem) => void
  readonly signal?: AbortSignal
}

const DEFAULT_STALL_NS = 250_000_000

/** Assumed rate if no member could be measured: equal, and that of a fast drive. */
const UNKNOWN_RATE = 1e9

/**
 * Opens a set from its members in any order; their labels define the layout. A stripe requires all members. A mirror
 * opens with the members that are present and up to date, and lists the others as problems. The set is writable if all
 * members are.
 * @throws LoaderError (NO_SET, SET_UNFINISHED, MIXED_SETS, DUPLICATE_MEMBER, STRIPE_MEMBER_MISSING, MIRROR_SPLIT,
 * SET_UNSUPPORTED, MEMBER_TRUNCATED, UNVERIFIABLE_MEDIA), SetLabelError, errors of a member's `read`, RangeError or
 * TypeError for invalid arguments.
 */
export function openSet(members: readonly Writable[], options?: OpenSetOptions): Promise<WritableBlockSet>
export function openSet(members: readonly Readable[], options?: OpenSetOptions): Promise<BlockSet>
export async function openSet(given: readonly Readable[], options: OpenSetOptions = {}): Promise<BlockSet> {
  if (!Array.isArray(given) || given.length === 0) throw new TypeError('openSet: expected a list of members, got none')
  const stores = given.map((member: Readable) => asStore(member))
  if (new Set(stores).size < stores.length) throw new TypeError('openSet: expected different members, got one twice')
  if (stores.every(isWritable)) return open(stores, options, WritableStripe, WritableMirror)
  return open(stores, options, Stripe, Mirror)
}

type MakeStripe<S extends BlockStore, T> = new (
  label: SetLabel,
  members: readonly Attached<S>[],
  dma: SetMemory,
  problems: Problems,
) => T
type MakeMirror<S extends BlockStore, T> = new (parts: MirrorParts<S>) => T

async function open<S extends BlockStore, T, M>(
  stores: readonly S[],
  options: OpenSetOptions,
  StripeClass: MakeStripe<S, T>,
  MirrorClass: MakeMirror<S, M>,
): Promise<T | M> {
  const problems = new Problems(options.onProblem)
  const members = await identify(stores, problems, options.signal)
  const { label } = members[0]!
  if (label.kind === 'mirror') return new MirrorClass(await mirrorParts(members, problems, options))
  checkStripe(members)
  const dma = new SetMemory(members[0]!.store.dma)
  const attached = members.map((member) => attach(member, dma))
  return new StripeClass(label, attached, dma, problems)
}

/** @throws LoaderError (STRIPE_MEMBER_MISSING), SetLabelError. */
function checkStripe(members: readonly Labelled<BlockStore>[]): void {
  const [{ label }] = members as [Labelled<BlockStore>]
  const missing = absentIn(members)
  if (missing.length > 0) throw stripeMemberMissing(label.members, missing)
  const shares = new Placement(label.members, label.pattern, label.unitBytes).sharesOf(label.setBytes)
  for (const { label: own, store } of members) {
    const share = shares[own.index]!
    if (share > own.dataBytes) {
      throw new SetLabelError(
        'DATA_LENGTH',
        `${share} or more`,
        String(own.dataBytes),
        memberName({ index: own.index, name: store.name }),
      )
    }
  }
}

/** Finds the members of a mirror that are up to date, and their rates. @throws LoaderError (MIRROR_SPLIT). */
async function mirrorParts<S extends BlockStore>(
  members: readonly Labelled<S>[],
  problems: Problems,
  { rates, stallNs = DEFAULT_STALL_NS, signal }: OpenSetOptions,
): Promise<MirrorParts<S>> {
  if (!(Number.isFinite(stallNs) && stallNs > 0))
    throw new RangeError(`stallNs: expected nanoseconds above 0, got ${stallNs}`)
  const newest = members.reduce((max, { label }) => Math.max(max, label.epoch), 0)
  const ahead = members.filter(({ label }) => label.epoch === newest)
  const { label } = ahead[0]!
  // Each was written without the other: it is unknown which one is right.
  const isSplit = members.some(({ label: { epoch, current } }) =>
    epoch === newest ? current !== label.current : (current & label.current) === 0,
  )
  if (isSplit) throw mirrorSplit(members)
  if (
    rates !== undefined &&
    !(rates.length === label.members && rates.every((rate) => Number.isFinite(rate) && rate > 0))
  ) {
    throw new RangeError(`rates: expected ${label.members} numbers above 0, got [${rates.join(', ')}]`)
  }
  const absent: Record<number, Absent[number]> = {}
  for (const { label: own, store } of members) {
    if (own.epoch === newest) continue
    absent[own.index] = { name: store.name, state: 'stale' }
    const message = `${memberName({ index: own.index, name: store.name })} was absent when the others were written: it has epoch ${own.epoch}, the others ${newest}`
    problems.add({ kind: 'stale', member: own.index, message })
  }
  for (const index of absentIn(members))
    problems.add({ kind: 'missing', member: index, message: `member ${index} is missing` })
  const dma = new SetMemory(ahead[0]!.store.dma)
  const attached = ahead.map((member) => attach(member, dma))
  const speeds = rates?.map(givenSpeed) ?? (await measured(attached, label.members, problems, signal))
  const live = attached.map((member) => new MirrorMember(member, speeds[member.index]!))
  return { label, members: live, absent, dma, problems, stallNs }
}

function givenSpeed(bytesPerSecond: number): Speed {
  return { bytesPerSecond, latencyNs: 0 }
}

/** Returns rates by index. A member that cannot be measured gets the rate of the slowest one until its first reads. */
async function measured(
  attached: readonly Attached[],
  members: number,
  problems: Problems,
  signal: AbortSignal | undefined,
): Promise<Speed[]> {
  const found = await Promise.all(
    attached.map(async ({ index, store }) => {
      try {
        return { index, speed: await measure(store, signal ? { signal } : {}) }
      } catch (cause) {
        if (!(cause instanceof GpuNvmeError)) throw cause
        const message = `${memberName({ index, name: store.name })} could not be measured`
        problems.add({ kind: 'unmeasured', member: index, message, cause })
        return undefined
      }
    }),
  )
  const rates = found.flatMap((each) => (each === undefined ? [] : [each.speed.bytesPerSecond]))
  const speeds = new Array<Speed>(members).fill(
    givenSpeed(rates.length > 0 ? rates.reduce((min, each) => Math.min(min, each), Infinity) : UNKNOWN_RATE),
  )
  for (const each of found) if (each !== undefined) speeds[each.index] = each.speed
  return speeds
}

function attach<S extends BlockStore>({ store, label }: Labelled<S>, dma: SetMemory): Attached<S> {
  const bounced = !dma.isReachedBy(store.dma)
  return { index: label.index, store: bounced ? (bouncedStore(store) as S) : store, bounced }
}

function absentIn(members: readonly Labelled<BlockStore>[]): number[] {
  const [{ label }] = members as [Labelled<BlockStore>]
  const there = new Set(members.map((member) => member.label.index))
  return Array.from({ length: label.members }, (_, index) => index).filter((index) => !there.has(index))
}

/** Error of a stripe with a missing member, which has data that no other member has. */
export function stripeMemberMissing(members: number, missing: readonly number[]): LoaderError {
  const headline = `A stripe of ${members} cannot be opened without ${missing.map((index) => `member ${index}`).join(', ')}`
  return new LoaderError('ERR_GPUNVME_STRIPE_MEMBER_MISSING', 'not-found', headline, {
    facts: ['a stripe has one copy of each byte: each member has part of every layer'],
    next: 'open it with all members; if one is lost for good, create the set again and pack the models again',
  })
}

/** Error of members of a mirror that were written separately. */
export function mirrorSplit(members: readonly Labelled<BlockStore>[]): LoaderError {
  const headline = `The members of a mirror of ${members[0]!.label.members} were written separately and differ`
  return new LoaderError('ERR_GPUNVME_MIRROR_SPLIT', 'verification', headline, {
    facts: members.map(
      ({ store, label }) =>
        `${memberName({ index: label.index, name: store.name })}: epoch ${label.epoch}, current 0x${label.current.toString(16)}`,
    ),
    next: 'open it only with the members whose content you want to keep, then erase the others with eraseSet()',
  })
}
