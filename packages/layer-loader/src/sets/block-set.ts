import type { BlockStore, DeviceShare, StoreSummary, WritableBlockStore } from '../store/store.js'
import type { SetKind } from './format.js'
import { memberName } from './member-error.js'
import type { SetProblem } from './problem.js'

/** Current state of a member of a set. */
export interface SetMember {
  readonly index: number
  /** Name of the member's store (`BlockStore.name`); absent if it is missing. */
  readonly name?: string
  /**
   * `live` members are read and written. `missing`: not given, or its label is damaged; `stale`: absent during a write;
   * `lost`: dropped after the set was opened.
   */
  readonly state: 'live' | 'missing' | 'stale' | 'lost'
  /** For a stripe, units per pattern; absent for a mirror. */
  readonly weight?: number
  /** For a mirror, its most recent rate, in bytes per second. */
  readonly bytesPerSecond?: number
  /** Whether the host copies its data, because its controller cannot reach the set's memory. */
  readonly bounced: boolean
}

/** Totals of a set; a new copy for each access. */
export interface SetStatistics {
  /** Bytes read from each member, by index. */
  readonly readBytes: readonly number[]
  /**
   * Parts of reads that failed on one member, or had a wrong checksum, and succeeded on another. Only for a mirror; for a
   * stripe of mirrors, those with a wrong checksum.
   */
  readonly repairedReads: number
  readonly repairedBytes: number
  /** Parts of reads that were late and repeated on another member; only for a mirror. */
  readonly stalls: number
  /** Bytes copied by the host. */
  readonly bouncedBytes: number
}

/** Several stores as one. */
export interface BlockSet extends BlockStore {
  readonly kind: SetKind
  /** 32 hexadecimal digits, the same on all members. */
  readonly setId: string
  /** Members by index; a new copy for each access. */
  readonly members: readonly SetMember[]
  /** Whether a member is absent or outdated: a further loss may lose data. */
  readonly degraded: boolean
  /** The first 100 problems found at opening or later. */
  readonly problems: readonly SetProblem[]
  readonly statistics: SetStatistics
}

/** A set whose members are open for writing. */
export type WritableBlockSet = BlockSet & WritableBlockStore

/** A member that is present, with the store to access it. */
export interface Attached<S extends BlockStore = BlockStore> {
  readonly index: number
  /** Copies through the host if `bounced` is set. */
  readonly store: S
  readonly bounced: boolean
}

/** Combines summaries of concurrent calls to members. `devices` lists all members or is absent. */
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
