import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { NamespaceOptions } from '../nvm/namespace.js'
import type { ProfileName } from '../profiles/index.js'
import type { DriveProfile } from '../profiles/profile.js'
import type { RealTimeLayout } from './layout.js'

/** A namespace that another thread can make: plain data only. */
export interface RealTimeNamespace extends Omit<NamespaceOptions, 'media'> {
  /** The file that it lies in, as `fileMedia` takes it; memory when not given. */
  readonly file?: { readonly path: string; readonly readOnly?: boolean }
}

/** How the simulator waits for doorbells that nobody can wake it for. Counts of polls, each well below a microsecond. */
export interface IdlePolicy {
  /** Polls that find nothing before it sleeps between them. */
  readonly spinPolls: number
  /** Polls between two calls of the native module's `yield()`. */
  readonly pollsPerYield: number
  /** The first sleep; each is twice as long as the one before. The system adds some tens of microseconds. */
  readonly firstSleepNs: number
  /** The longest sleep: how late a doorbell rung by a native thread may be seen. The transport's own wakes it. */
  readonly longestSleepNs: number
}

/** Memory that host and simulator share: of JavaScript, or of a native module that both threads import. */
export type SharedMemorySource =
  | { readonly memory: SharedArrayBuffer }
  | {
      /** A module with `view` and `yield` of `NativeHost`, as named exports or as its default export. */
      readonly module: URL
      readonly address: bigint
      readonly lengthBytes: number
    }

/** Everything here crosses to another thread, so it is plain data. */
export type RealTimeOptions = SharedMemorySource & {
  /** Device address of the memory's first byte; 4 GiB for JavaScript memory, its own address for native memory. */
  readonly baseIova?: number
  /** 'ideal', which costs no time, when not given. Latencies hold as lower bounds: the machine adds its own. */
  readonly profile?: DriveProfile | ProfileName
  /** 0 to 2^32 - 1; 1 when not given. */
  readonly seed?: number
  /** One of 1 GiB with 512-byte blocks, NSID 1, when not given; an empty list is a drive without any. */
  readonly namespaces?: readonly RealTimeNamespace[]
  readonly faults?: FaultPlan
  /**
   * What of the memory the controller reaches: what the transport's allocator has given out, when not given, so that
   * DMA to freed memory is found; or all of it, for a native caller that divides it by itself.
   */
  readonly reach?: 'allocated' | 'all'
  readonly idle?: Partial<IdlePolicy>
  /** How long the simulator's thread may give no sign of life when it is asked something; 10 s when not given. */
  readonly responseLimitMs?: number
}

/** What the simulator's thread is started with. */
export interface WorkerOptions {
  readonly source:
    | { readonly memory: SharedArrayBuffer }
    | { readonly module: string; readonly address: bigint; readonly lengthBytes: number }
  readonly layout: RealTimeLayout
  readonly control: SharedArrayBuffer
  /** A byte for each page of the DMA memory: 1 where it is allocated. Absent where all of it is reached. */
  readonly pages: SharedArrayBuffer | undefined
  readonly profile: DriveProfile
  readonly seed: number
  readonly namespaces: readonly RealTimeNamespace[]
  readonly faults: FaultPlan | undefined
  readonly idle: IdlePolicy
}

/**
 * Guesses between values that were tried: 4 KiB reads by a thread that rings by plain stores, on two hyperthreads of one
 * core beside a dozen busy threads. A shorter spin and shorter sleeps gave the most even rates there, since a thread
 * that has slept is let in before those that have not.
 */
export const DEFAULT_IDLE: IdlePolicy = {
  spinPolls: 500,
  pollsPerYield: 256,
  firstSleepNs: 10_000,
  longestSleepNs: 200_000,
}
