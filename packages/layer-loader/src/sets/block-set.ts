import type { BlockStore, DeviceShare, StoreSummary, WritableBlockStore } from '../store/store.js'
import type { SetKind } from './format.js'
import { memberName } from './member-error.js'
import type { SetProblem } from './problem.js'

/** A member of a set, as it is now. */
export interface SetMember {
  readonly index: number
  /** As `BlockStore.name`; absent where it is not there. */
  readonly name?: string
  /**
   * `live` members are read from and written to. `missing`: it was not given, or its label is damaged; `stale`: it was
   * not there when something was written; `lost`: it was dropped since the set was opened.
   */
  readonly state: 'live' | 'missing' | 'stale' | 'lost'
  /** Units of each pattern that it has in a stripe; of a mirror absent. */
  readonly weight?: number
  /** What it delivers as it was last seen, in bytes a second; of a mirror alone. */
  readonly bytesPerSecond?: number
  /** The host copies what this member reads and writes, since its controller does not reach the set's memory. */
  readonly bounced: boolean
}

/** What a set has done so far; a fresh copy at each look. */
export interface SetStatistics {
  /** What each member has read, by index. */
  readonly readBytes: readonly number[]
  /** Parts of reads that one member could not give, and another gave; of a mirror alone. */
  readonly repairedReads: number
  readonly repairedBytes: number
  /** Parts of reads that took so long that another member read them as well; of a mirror alone. */
  readonly stalls: number
  /** What the host has copied. */
  readonly bouncedBytes: number
}

/** Several stores as one. */
export interface BlockSet extends BlockStore {
  readonly kind: SetKind
  /** 32 hexadecimal digits, the same on all members. */
  readonly setId: string
  /** By index; a fresh copy at each look. */
  readonly members: readonly SetMember[]
  /** A member is not there, or not up to date: one more loss may be the end of it. */
  readonly degraded: boolean
  /** What was found when it was opened, and what has happened since: the first 100. */
  readonly problems: readonly SetProblem[]
  readonly statistics: SetStatistics
}

export type WritableBlockSet = BlockSet & WritableBlockStore

/** A member that is there, and what reads and writes through it. */
export interface Attached<S extends BlockStore = BlockStore> {
  readonly index: number
  /** Bounces where `bounced` says so. */
  readonly store: S
  readonly bounced: boolean
}

/** One summary of what members have done at the same time; all of them are called, or none. */
export function summaryOf(
  parts: readonly { readonly member: Attached; readonly summary: StoreSummary }[],
  startNs: number,
  endNs: number,
): StoreSummary {
  const devices = parts.map(({ member, summary: { bytes, commands } }): DeviceShare => ({
    name: memberName({ index: member.index, name: member.store.name }),
    bytes,
    commands,
    ...(member.bounced && { bouncedBytes: bytes }),
  }))
  const sum = (of: (share: DeviceShare) => number) => devices.reduce((total, share) => total + of(share), 0)
  return { bytes: sum(({ bytes }) => bytes), commands: sum(({ commands }) => commands), startNs, endNs, devices }
}
