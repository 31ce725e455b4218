import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { NamespaceOptions } from '../nvm/namespace.js'
import type { ProfileName } from '../profiles/index.js'
import type { DriveProfile } from '../profiles/profile.js'
import type { RealTimeLayout } from './layout.js'

/** Options of a namespace that another thread can create: plain data only. */
export interface RealTimeNamespace extends Omit<NamespaceOptions, 'media'> {
  /** File that holds its data, as with `fileMedia`. Default: memory. */
  readonly file?: { readonly path: string; readonly readOnly?: boolean }
}

/** How the simulator waits for doorbells that cannot wake it. Counts are in polls, each well below a microsecond. */
export interface IdlePolicy {
  /** Number of polls without a result before it sleeps between them. */
  readonly spinPolls: number
  /** Polls between two calls of the native module's `yield()`. */
  readonly pollsPerYield: number
  /** Length of the first sleep; each is twice as long as the one before. The system adds some tens of microseconds. */
  readonly minSleepNs: number
  /**
   * Maximum sleep, which bounds the latency of a doorbell rung by a native thread. The transport wakes the simulator
   * itself.
   */
  readonly maxSleepNs: number
}

/** Memory shared by host and simulator: of JavaScript, or of a native module that both threads import. */
export type SharedMemorySource =
  | { readonly memory: SharedArrayBuffer }
  | {
      /** A module with `view` and `yield` of `NativeHost`, as named exports or as its default export. */
      readonly module: URL
      readonly address: bigint
      readonly lengthBytes: number
    }

/** Plain data, since options are passed to another thread. */
export type RealTimeOptions = SharedMemorySource & {
  /**
   * Device address of the memory's first byte. Default: 4 GiB for JavaScript memory, its own address for native memory.
   */
  readonly baseIova?: number
  /** Drive profile. Default: 'ideal', which has no costs. Latencies are lower bounds: the machine adds its own. */
  readonly profile?: DriveProfile | ProfileName
  /** Seed, 0 to 2^32 - 1. Default: 1. */
  readonly seed?: number
  /** Namespaces; an empty list is a drive without any. Default: one of 1 GiB with 512-byte blocks, NSID 1. */
  readonly namespaces?: readonly RealTimeNamespace[]
  readonly faults?: FaultPlan
  /**
   * Memory that the controller can access. 'allocated' is what the transport's allocator has given out, so that DMA to
   * freed memory is detected; 'all' is for native callers that allocate by themselves. Default: 'allocated'.
   */
  readonly reach?: 'allocated' | 'all'
  readonly idle?: Partial<IdlePolicy>
  /** Maximum time for the simulator's thread to respond, in milliseconds. Default: 10,000. */
  readonly responseLimitMs?: number
}

/** Start options of the simulator's thread. */
export interface WorkerOptions {
  readonly source:
    | { readonly memory: SharedArrayBuffer }
    | { readonly module: string; readonly address: bigint; readonly lengthBytes: number }
  readonly layout: RealTimeLayout
  readonly control: SharedArrayBuffer
  /** One byte per page of the DMA memory: 1 if allocated. Absent if all of it is accessible. */
  readonly pages: SharedArrayBuffer | undefined
  readonly profile: DriveProfile
  readonly seed: number
  readonly namespaces: readonly RealTimeNamespace[]
  readonly faults: FaultPlan | undefined
  readonly idle: IdlePolicy
}

/**
 * Chosen between measured values, for 4 KiB reads by a thread that rings by plain stores, on two hyperthreads of one
 * core beside a dozen busy threads. A shorter spin and shorter sleeps gave the most even rates there, since a thread
 * that has slept is scheduled before those that have not.
 */
export const DEFAULT_IDLE: IdlePolicy = {
  spinPolls: 500,
  pollsPerYield: 256,
  minSleepNs: 10_000,
  maxSleepNs: 200_000,
}
