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

export interface OpenSetOptions {
  /**
   * What each member of a mirror delivers, by its index, in bytes a second, as `measureWeights` gives it; measured when
   * not given. It decides only how the first reads are divided: from then on the mirror goes by what it sees.
   */
  readonly rates?: readonly number[]
  /** How much later than expected a read of a mirror's member may be before another does it too; 250 ms when not given. */
  readonly stallNs?: number
  /** Is told of every problem, also of those that arise later. */
  readonly onProblem?: (problem: SetProblem) => void
  readonly signal?: AbortSignal
}

const DEFAULT_STALL_NS = 250_000_000

/** Of members none of which could be measured: alike, and as fast as a drive may be. */
const UNKNOWN_RATE = 1e9

/**
 * Opens a set from its members, given in any order: which is which, and how the set is laid out, stands in their labels.
 * A stripe needs all of them; a mirror is opened from those that are there and up to date, and says what is missing. It
 * can be written to where all members can.
 * @throws RangeError, TypeError for wrong arguments; SetNotFoundError, MixedSetsError, DuplicateMemberError,
 *   StripeMemberMissingError, MirrorSplitError, SetLabelError, UnsupportedSetError, MemberTruncatedError,
 *   UnverifiableMediaError; what a member's `read` throws.
 */
export function openSet(members: readonly Writable[], options?: OpenSetOptions): Promise<WritableBlockSet>
export function openSet(members: readonly Readable[], options?: OpenSetOptions): Promise<BlockSet>
export async function openSet(given: readonly Readable[], options: OpenSetOptions = {}): Promise<BlockSet> {
  if (!Array.isArray(given) || given.length === 0) throw new TypeError('openSet: expected a list of members, got none')
  const stores = given.map((member: Readable) => asStore(member))
  if (new Set(stores).size < stores.length) throw new TypeError('openSet: expected each member once, got one twice')
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

/** @throws StripeMemberMissingError, SetLabelError. */
function checkStripe(members: readonly Labelled<BlockStore>[]): void {
  const [{ label }] = members as [Labelled<BlockStore>]
  const missing = absentIn(members)
  if (missing.length > 0) throw new StripeMemberMissingError(label.members, missing)
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

/** Who of a mirror is up to date, and how fast. @throws MirrorSplitError. */
async function mirrorParts<S extends BlockStore>(
  members: readonly Labelled<S>[],
  problems: Problems,
  { rates, stallNs = DEFAULT_STALL_NS, signal }: OpenSetOptions,
): Promise<MirrorParts<S>> {
  if (!(Number.isFinite(stallNs) && stallNs > 0))
    throw new RangeError(`stallNs: expected nanoseconds above 0, got ${stallNs}`)
  const newest = members.reduce((most, { label }) => Math.max(most, label.epoch), 0)
  const ahead = members.filter(({ label }) => label.epoch === newest)
  const { label } = ahead[0]!
  // Each was written to without the other: nobody can say which of them is right.
  const isSplit = members.some(({ label: { epoch, current } }) =>
    epoch === newest ? current !== label.current : (current & label.current) === 0,
  )
  if (isSplit) throw new MirrorSplitError(members)
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
    const message = `${memberName({ index: own.index, name: store.name })} was not there when the others were written to: it is of epoch ${own.epoch}, they of ${newest}`
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

/** By index. A member that cannot be measured is taken for as slow as the slowest; its reads will say more. */
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
    givenSpeed(rates.length > 0 ? rates.reduce((least, each) => Math.min(least, each), Infinity) : UNKNOWN_RATE),
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

/** A stripe has each byte once, and some of them are on a member that is not there. */
export class StripeMemberMissingError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_STRIPE_MEMBER_MISSING'
  readonly category = 'not-found'
  /** Indexes. */
  readonly missing: readonly number[]

  constructor(members: number, missing: readonly number[]) {
    super(`A stripe of ${members} cannot be opened without ${missing.map((index) => `member ${index}`).join(', ')}`, {
      facts: ['a stripe has each byte once: part of every layer is there'],
      next: 'give all members; if one is lost for good, make the set anew and pack the models again',
    })
    this.missing = missing
  }
}

/** Members of a mirror were written to each without the other. */
export class MirrorSplitError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_MIRROR_SPLIT'
  readonly category = 'verification'

  constructor(members: readonly Labelled<BlockStore>[]) {
    super(`The members of a mirror of ${members[0]!.label.members} were written to each without the other`, {
      facts: members.map(
        ({ store, label }) =>
          `${memberName({ index: label.index, name: store.name })}: epoch ${label.epoch}, current 0x${label.current.toString(16)}`,
      ),
      next: 'open it with those alone whose content is to stay, then erase the others with eraseSet()',
    })
  }
}
