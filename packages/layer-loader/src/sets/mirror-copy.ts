import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaMemory, ExecuteOptions } from '@gpunvme/nvme-spec/transport'
import { checkTransfers, type BlockStore, type StoreSummary, type StoreTransfer } from '../store/store.js'
import { MEMBER_DATA_BYTES } from './format.js'
import { memberName } from './member-error.js'
import type { MirrorMember } from './mirror-member.js'
import type { MemberFailure } from './read-job.js'

/** Callbacks to the mirror of a copy. */
export interface CopyEvents {
  readonly done: (bytes: number) => void
  /** Called for an error of the member's drive. */
  readonly failed: (failure: MemberFailure, wasAborted: boolean) => void
}

/** One member of a mirror as a store of the mirror's bytes, in memory of the mirror. */
export class MirrorCopy implements BlockStore {
  readonly index: number
  readonly name: string
  readonly blockBytes: number
  readonly capacityBytes: number
  readonly dma: BlockStore['dma']
  private readonly member: MirrorMember
  private readonly events: CopyEvents

  constructor(mirror: BlockStore, member: MirrorMember, events: CopyEvents) {
    this.index = member.index
    this.name = memberName({ index: member.index, name: member.store.name })
    this.blockBytes = mirror.blockBytes
    this.capacityBytes = mirror.capacityBytes
    this.dma = mirror.dma
    this.member = member
    this.events = events
  }

  get saturationBytes() {
    return this.member.store.saturationBytes
  }

  get clock() {
    return this.member.store.clock
  }

  get movesData() {
    return this.member.store.movesData
  }

  async read(
    transfers: readonly StoreTransfer[],
    memory: DmaMemory,
    options: ExecuteOptions = {},
  ): Promise<StoreSummary> {
    checkTransfers(this, transfers, memory)
    const { member } = this
    try {
      const summary = await member.store.read(transfers.map(toMember), memory, options)
      this.events.done(summary.bytes)
      return summary
    } catch (error) {
      const { signal } = options
      if (error instanceof GpuNvmeError && error !== signal?.reason)
        this.events.failed({ member, error }, signal?.aborted === true)
      throw error
    }
  }

  locate(offsetBytes: number, lengthBytes: number): string {
    return `member ${this.index}: ${this.member.store.locate(MEMBER_DATA_BYTES + offsetBytes, lengthBytes)}`
  }
}

/** Returns a transfer of a mirror as one of each member. */
export function toMember(transfer: StoreTransfer): StoreTransfer {
  return { ...transfer, offsetBytes: MEMBER_DATA_BYTES + transfer.offsetBytes }
}
