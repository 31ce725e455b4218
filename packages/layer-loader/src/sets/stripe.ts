import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import {
  checkTransfers,
  DEFAULT_READ_BYTES,
  type BlockStore,
  type StoreCopies,
  type StoreSummary,
  type StoreTransfer,
  type WritableBlockStore,
} from '../store/store.js'
import {
  summaryOf,
  type Attached,
  type BlockSet,
  type SetMember,
  type SetStatistics,
  type WritableBlockSet,
} from './block-set.js'
import { MEMBER_DATA_BYTES } from './format.js'
import type { SetLabel } from './label.js'
import { isLoss } from './loss.js'
import { memberName, SetMemberError, type MemberVerb } from './member-error.js'
import { Placement } from './placement.js'
import type { Problems } from './problem.js'
import type { SetMemory } from './set-memory.js'
import { together } from '../flow/together.js'

const NEXT =
  'a stripe has one copy of each byte: restore the drive and open the set again, or pack the models to another set'

/** Striped stores: a read goes to all members that have a part of it, at once. */
export class Stripe<S extends BlockStore = BlockStore> implements BlockSet {
  readonly kind = 'stripe'
  readonly setId: string
  readonly name: string
  readonly blockBytes: number
  readonly capacityBytes: number
  readonly saturationBytes: number
  readonly optimalReadBytes: number
  readonly dma: SetMemory
  readonly degraded = false
  protected readonly attached: readonly Attached<S>[]
  private readonly placement: Placement
  private readonly found: Problems
  private readonly readBytes: number[]
  private readonly repaired = { reads: 0, bytes: 0 }
  private bouncedBytes = 0

  /** @param members all members, by index. */
  constructor(label: SetLabel, members: readonly Attached<S>[], dma: SetMemory, found: Problems) {
    const stores = members.map(({ store }) => store)
    this.setId = label.setId
    this.name = `stripe of ${members.length}`
    this.attached = members
    this.dma = dma
    this.found = found
    this.placement = new Placement(members.length, label.pattern, label.unitBytes)
    this.blockBytes = stores.reduce((max, { blockBytes }) => Math.max(max, blockBytes), 0)
    this.capacityBytes = label.setBytes
    this.readBytes = members.map(() => 0)
    // The bytes of the set that keep each member busy.
    const { weights } = this.placement
    this.saturationBytes = stores
      .map(({ saturationBytes }, index) => Math.ceil((saturationBytes / weights[index]!) * label.pattern.length))
      .reduce((max, each) => Math.max(max, each), 0)
    this.optimalReadBytes = stores.reduce((sum, { optimalReadBytes = DEFAULT_READ_BYTES }) => sum + optimalReadBytes, 0)
  }

  get clock() {
    return this.attached[0]!.store.clock
  }

  get movesData(): false | undefined {
    return this.attached.some(({ store }) => store.movesData === false) ? false : undefined
  }

  get members(): readonly SetMember[] {
    return this.attached.map(({ index, store: { name }, bounced }) => ({
      index,
      name,
      state: 'live',
      weight: this.placement.weights[index]!,
      bounced,
    }))
  }

  get problems() {
    return [...this.found.kept]
  }

  get statistics(): SetStatistics {
    const { readBytes, repaired, bouncedBytes } = this
    const { reads: repairedReads, bytes: repairedBytes } = repaired
    return { readBytes: [...readBytes], repairedReads, repairedBytes, stalls: 0, bouncedBytes }
  }

  /**
   * Present if a member is a mirror: copy n has copy n of each mirror. A member with fewer copies is part of several of
   * them.
   */
  get copies(): StoreCopies | undefined {
    const ofMembers = this.attached.map(({ store }) => store.copies?.stores ?? [store])
    const count = ofMembers.reduce((most, { length }) => Math.max(most, length), 0)
    if (count < 2) return undefined
    const stores = Array.from({ length: count }, (_, copy) =>
      this.copyOn(
        copy,
        ofMembers.map((each) => each[copy % each.length]!),
      ),
    )
    return {
      stores,
      repaired: (offsetBytes, lengthBytes, wrong) => {
        this.repaired.reads++
        this.repaired.bytes += lengthBytes
        const found = wrong.map((copy) => ({ copy }))
        this.found.addWrongBytes(this, found, offsetBytes, lengthBytes)
      },
    }
  }

  async read(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary> {
    return this.spread('read', transfers, memory, options, ({ store }, own, limits) => store.read(own, memory, limits))
  }

  /** Names the location on each member that has a part. */
  locate(offsetBytes: number, lengthBytes: number): string {
    return this.locateOn(
      this.attached.map(({ store }) => store),
      offsetBytes,
      lengthBytes,
    )
  }

  /** @param stores one for each member: the store itself, or a copy of it. */
  private locateOn(stores: readonly BlockStore[], offsetBytes: number, lengthBytes: number): string {
    const runs = new Map<number, { from: number; to: number }>()
    for (const { member, transfer } of this.placement.split({ offsetBytes, lengthBytes, memoryBytes: 0 })) {
      const [from, to] = [transfer.offsetBytes, transfer.offsetBytes + transfer.lengthBytes]
      runs.set(member, { from: runs.get(member)?.from ?? from, to })
    }
    return Array.from(runs, ([member, { from, to }]) => {
      return `member ${member}: ${stores[member]!.locate(MEMBER_DATA_BYTES + from, to - from)}`
    }).join('; ')
  }

  /** Returns a store of the stripe's bytes that reads each member from one of its copies. */
  private copyOn(copy: number, stores: readonly BlockStore[]): BlockStore {
    const { name, blockBytes, capacityBytes, saturationBytes, dma, clock, movesData } = this
    return {
      name: `copy ${copy} of the ${name}`,
      ...{ blockBytes, capacityBytes, saturationBytes, dma, clock, movesData },
      read: (transfers, memory, options) =>
        this.spread('read', transfers, memory, options, ({ index }, own, limits) =>
          stores[index]!.read(own, memory, limits),
        ),
      locate: (offsetBytes, lengthBytes) => this.locateOn(stores, offsetBytes, lengthBytes),
    }
  }

  /** Distributes transfers to their members, and combines the summaries. */
  protected async spread(
    verb: MemberVerb,
    transfers: readonly StoreTransfer[],
    memory: DmaMemory,
    options: ExecuteOptions = {},
    move: (member: Attached<S>, own: readonly StoreTransfer[], options: ExecuteOptions) => Promise<StoreSummary>,
  ): Promise<StoreSummary> {
    checkTransfers(this, transfers, memory)
    const { clock } = this
    const startNs = clock.now()
    const shares = this.attached.map((): StoreTransfer[] => [])
    for (const whole of transfers) {
      for (const { member, transfer } of this.placement.split(whole)) {
        shares[member]!.push({ ...transfer, offsetBytes: MEMBER_DATA_BYTES + transfer.offsetBytes })
      }
    }
    const concerned = this.attached.filter(({ index }) => shares[index]!.length > 0)
    const parts = await together(
      concerned.map((member) => async (signal) => ({
        member,
        summary: await this.ask(verb, member, signal, () =>
          move(member, shares[member.index]!, { ...options, signal }),
        ),
      })),
      options.signal,
    )
    for (const { member, summary } of parts) {
      if (verb === 'read') this.readBytes[member.index]! += summary.bytes
      if (member.bounced) this.bouncedBytes += summary.bytes
    }
    return summaryOf(parts, startNs, clock.now())
  }

  /** Names the failed member, and keeps memory that a lost member may still write to. */
  protected async ask<T>(
    verb: MemberVerb,
    { index, store: { name } }: Attached,
    signal: AbortSignal | undefined,
    call: () => Promise<T>,
  ): Promise<T> {
    try {
      return await call()
    } catch (error) {
      if (!(error instanceof GpuNvmeError) || error === signal?.reason) throw error
      if (isLoss(error)) {
        this.dma.quarantine()
        this.found.add({ kind: 'lost', member: index, message: `${memberName({ index, name })} is lost`, cause: error })
      }
      throw new SetMemberError(this.name, verb, { index, name }, error, NEXT)
    }
  }
}

export class WritableStripe extends Stripe<WritableBlockStore> implements WritableBlockSet {
  async write(transfers: readonly StoreTransfer[], memory: DmaMemory, options?: ExecuteOptions): Promise<StoreSummary> {
    return this.spread('write', transfers, memory, options, ({ store }, own, limits) =>
      store.write(own, memory, limits),
    )
  }

  async flush(): Promise<void> {
    await together(
      this.attached.map((member) => (signal) => this.ask('flush', member, signal, () => member.store.flush())),
    )
  }
}
