import { LoaderError } from '../error.js'
import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { AbortSignalLike, DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import {
  checkTransfers,
  DEFAULT_READ_BYTES,
  type BlockStore,
  type StoreCopies,
  type StoreSummary,
  type StoreTransfer,
  type WritableBlockStore,
} from '../store/store.js'
import { summaryOf, type BlockSet, type SetMember, type SetStatistics, type WritableBlockSet } from './block-set.js'
import type { SetLabel } from './label.js'
import { isLoss } from './loss.js'
import { memberName, SetMemberError, type MemberVerb } from './member-error.js'
import { MirrorCopy, toMember } from './mirror-copy.js'
import type { MirrorMember } from './mirror-member.js'
import { MirrorReads } from './mirror-reads.js'
import type { Problems } from './problem.js'
import type { MemberFailure, Piece } from './read-job.js'
import type { SetMemory } from './set-memory.js'
import { writeLabel } from './write-label.js'

/** State of the members that are not read. */
export type Absent = Readonly<Record<number, Pick<SetMember, 'name' | 'state'>>>

/** Arguments of a mirror. */
export interface MirrorParts<S extends BlockStore = BlockStore> {
  /** Label of the newest epoch. */
  readonly label: SetLabel
  /** Members that are up to date, by index; at least one. */
  readonly members: readonly MirrorMember<S>[]
  readonly absent: Absent
  readonly dma: SetMemory
  readonly problems: Problems
  readonly stallNs: number
}

/**
 * Stores with the same content. Reads are divided between them, and continue on the others when one is lost. Readers
 * that know a checksum find the right bytes by `copies` if a member returns wrong ones.
 */
export class Mirror<S extends BlockStore = BlockStore> implements BlockSet {
  readonly kind = 'mirror'
  readonly setId: string
  readonly name: string
  readonly blockBytes: number
  readonly capacityBytes: number
  readonly dma: SetMemory
  protected readonly all: readonly MirrorMember<S>[]
  protected label: SetLabel
  private readonly absent: Absent
  private readonly found: Problems
  private readonly reads: MirrorReads
  private readonly repaired = { reads: 0, bytes: 0 }
  private stalls = 0
  private bouncedBytes = 0

  constructor({ label, members, absent, dma, problems, stallNs }: MirrorParts<S>) {
    this.label = label
    this.all = members
    this.absent = absent
    this.dma = dma
    this.found = problems
    this.setId = label.setId
    this.name = `mirror of ${label.members}`
    this.blockBytes = members.reduce((max, { store }) => Math.max(max, store.blockBytes), 0)
    this.capacityBytes = label.setBytes
    this.reads = new MirrorReads(members, stallNs, {
      failed: (failure, wasAborted) => this.failed(failure, wasAborted),
      stalled: (member, piece) => this.stalled(member, piece),
      repaired: (piece) => this.recordRepair(piece),
      unreadable: (failure) => this.endOf('read', failure),
    })
  }

  get saturationBytes() {
    return this.live.reduce((sum, { store }) => sum + store.saturationBytes, 0)
  }

  /** Several pieces for each member, so that the faster ones can take more. */
  get optimalReadBytes() {
    return this.live.reduce(
      (sum, { store: { optimalReadBytes = DEFAULT_READ_BYTES } }) => sum + 4 * optimalReadBytes,
      0,
    )
  }

  get clock() {
    return (this.live[0] ?? this.all[0]!).store.clock
  }

  get movesData(): false | undefined {
    return this.all.some(({ store }) => store.movesData === false) ? false : undefined
  }

  get copies(): StoreCopies | undefined {
    const stores = this.live.map((member) => this.copyOn(member))
    if (stores.length < 2) return undefined
    return { stores, repaired: (...what) => this.recordWrong(stores, ...what) }
  }

  get degraded(): boolean {
    return this.live.length < this.label.members
  }

  get members(): readonly SetMember[] {
    return Array.from({ length: this.label.members }, (_, index): SetMember => {
      const member = this.all.find((each) => each.index === index)
      if (member === undefined) return { index, state: 'missing', bounced: false, ...this.absent[index] }
      const { store, bounced, bytesPerSecond, isLive } = member
      return { index, name: store.name, state: isLive ? 'live' : 'lost', bytesPerSecond, bounced }
    })
  }

  get problems() {
    return [...this.found.kept]
  }

  get statistics(): SetStatistics {
    const readBytes = Array.from({ length: this.label.members }, () => 0)
    for (const member of this.all) readBytes[member.index] = member.readBytes
    const { repaired, stalls, bouncedBytes } = this
    return { readBytes, repairedReads: repaired.reads, repairedBytes: repaired.bytes, stalls, bouncedBytes }
  }

  async read(transfers: readonly StoreTransfer[], memory: DmaMemory, options = {}): Promise<StoreSummary> {
    checkTransfers(this, transfers, memory)
    const { clock } = this
    const startNs = clock.now()
    const onMembers = transfers.map(toMember)
    const parts = await this.reads.read(onMembers, this.blockBytes, memory, options)
    const endNs = clock.now()
    const summaries = Array.from(parts, ([member, part]) => ({ member, summary: { ...part, startNs, endNs } }))
    for (const { member, summary } of summaries) if (member.bounced) this.bouncedBytes += summary.bytes
    return summaryOf(summaries, startNs, endNs)
  }

  /** Names the location on all members, since each has the data. */
  locate(offsetBytes: number, lengthBytes: number): string {
    return this.all.map((member) => this.copyOn(member).locate(offsetBytes, lengthBytes)).join('; ')
  }

  protected get live(): readonly MirrorMember<S>[] {
    return this.all.filter(({ isLive }) => isLive)
  }

  /** Drops a member: it is no longer read or written. */
  protected drop(member: MirrorMember, cause: GpuNvmeError): void {
    if (!member.isLive) return
    member.isLive = false
    const message = `${memberName({ index: member.index, name: member.store.name })} is no longer used`
    this.found.add({ kind: 'lost', member: member.index, message, cause })
  }

  /** Returns the error if no member is left for an operation. */
  protected endOf(verb: MemberVerb, failure: MemberFailure | undefined): GpuNvmeError {
    if (failure === undefined) return mirrorLost(this.name, this.found)
    const { member, error } = failure
    const next =
      this.live.length === 0
        ? 'all members of the mirror are lost: open the drives again, then the set'
        : 'no other member could read it either: pack the affected models again'
    return new SetMemberError(this.name, verb, { index: member.index, name: member.store.name }, error, next)
  }

  protected failed({ member, error }: MemberFailure, wasAborted: boolean): void {
    if (!isLoss(error)) return
    // The lost member may still execute commands to memory allocated here.
    this.dma.quarantine()
    if (!wasAborted) this.drop(member, error)
  }

  private stalled(member: MirrorMember, piece: Piece): void {
    this.stalls++
    const message = `${memberName({ index: member.index, name: member.store.name })} is late with ${where(member, piece)}`
    this.found.add({ kind: 'stalled', member: member.index, message })
  }

  private copyOn(member: MirrorMember): MirrorCopy {
    return new MirrorCopy(this, member, {
      done: (bytes) => {
        member.readBytes += bytes
        if (member.bounced) this.bouncedBytes += bytes
      },
      failed: (failure, wasAborted) => this.failed(failure, wasAborted),
    })
  }

  private recordWrong(
    copies: readonly MirrorCopy[],
    offsetBytes: number,
    lengthBytes: number,
    wrong: readonly BlockStore[],
  ): void {
    this.repaired.reads++
    this.repaired.bytes += lengthBytes
    const found = copies.filter((each) => wrong.includes(each)).map((copy) => ({ index: copy.index, copy }))
    this.found.addWrongBytes(this, found, offsetBytes, lengthBytes)
  }

  private recordRepair(piece: Piece): void {
    const { member, error } = piece.failure!
    this.repaired.reads++
    this.repaired.bytes += piece.transfer.lengthBytes
    if (isLoss(error)) return // already reported once for all its reads
    const message = `${memberName({ index: member.index, name: member.store.name })} could not read ${where(member, piece)}`
    this.found.add({ kind: 'repaired', member: member.index, message, cause: error })
  }
}

/** A mirror with writable members, which all get the same writes. */
export class WritableMirror extends Mirror<WritableBlockStore> implements WritableBlockSet {
  private epoch: Promise<void> = Promise.resolve()

  async write(
    transfers: readonly StoreTransfer[],
    memory: DmaMemory,
    options: ExecuteOptions = {},
  ): Promise<StoreSummary> {
    checkTransfers(this, transfers, memory)
    const onMembers = transfers.map(toMember)
    const startNs = this.clock.now()
    const parts = await this.onAll('write', (member) => member.store.write(onMembers, memory, options), options.signal)
    return summaryOf(parts, startNs, this.clock.now())
  }

  async flush(): Promise<void> {
    await this.onAll('flush', (member) => member.store.flush())
  }

  /**
   * Runs an operation on all present members. A member that fails while another succeeds becomes stale: the labels of
   * the others record that before success is reported. An operation aborted by the caller makes no member stale, since
   * it is no success for any.
   */
  private async onAll<T>(
    verb: MemberVerb,
    call: (member: MirrorMember<WritableBlockStore>) => Promise<T>,
    signal?: AbortSignalLike,
  ): Promise<{ member: MirrorMember<WritableBlockStore>; summary: T }[]> {
    await this.leaveBehind()
    const failures: MemberFailure[] = []
    const settled = await Promise.allSettled(
      this.live.map(async (member) => {
        try {
          return { member, summary: await call(member) }
        } catch (error) {
          // A signal's reason may be a GpuNvmeError: that of another member of an enclosing set.
          if (error instanceof GpuNvmeError && error !== signal?.reason) {
            failures.push({ member, error })
            this.failed({ member, error }, signal?.aborted === true)
          }
          throw error
        }
      }),
    )
    const done = settled.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    // An invalid argument: nothing was done.
    const refused = settled.find((result) => result.status === 'rejected' && !(result.reason instanceof GpuNvmeError))
    if (refused?.status === 'rejected') throw refused.reason
    if (signal?.aborted === true && done.length < settled.length) throw signal.reason
    if (done.length === 0) throw this.endOf(verb, failures[0])
    for (const { member, error } of failures) this.drop(member, error)
    await this.leaveBehind()
    return done
  }

  /** Updates the labels of all present members if they do not record the current members yet. */
  private leaveBehind(): Promise<void> {
    this.epoch = this.epoch.then(
      () => this.beginEpoch(),
      () => this.beginEpoch(),
    )
    return this.epoch
  }

  private async beginEpoch(): Promise<void> {
    for (;;) {
      const { live } = this
      const current = live.reduce((mask, { index }) => mask + 2 ** index, 0)
      if (live.length === 0) throw mirrorLost(this.name, undefined)
      if (current === this.label.current) return
      const next = { ...this.label, epoch: this.label.epoch + 1, current }
      await Promise.all(
        live.map(async (member) => {
          try {
            await writeLabel(member.store, { ...next, index: member.index })
          } catch (error) {
            if (!(error instanceof GpuNvmeError)) throw error
            this.failed({ member, error }, false)
            this.drop(member, error)
          }
        }),
      )
      // A member whose label could not be updated becomes stale too, with another epoch.
      this.label = next
    }
  }
}

function where({ store }: MirrorMember, { transfer }: Piece): string {
  return store.locate(transfer.offsetBytes, transfer.lengthBytes)
}

/** Error of a mirror without a remaining member. */
export function mirrorLost(set: string, found: Problems | undefined): LoaderError {
  const lost = found?.kept.filter(({ kind }) => kind === 'lost') ?? []
  return new LoaderError('ERR_GPUNVME_MIRROR_LOST', 'device', `${set}: all members are lost`, {
    facts: lost.map(({ message }) => message),
    next: 'open the drives again, then the set',
  })
}
