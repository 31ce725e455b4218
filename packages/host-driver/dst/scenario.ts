import type { ProfileName } from '@gpunvme/nvme-sim'
import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { ControllerOptions } from '../src/index.js'

/** A run of the campaign as data, which can be minimised, written to a file and run again. */
export interface Scenario {
  readonly seed: number
  readonly controller: ControllerShape
  readonly namespaces: readonly NamespaceShape[]
  /** NSID of a namespace with metadata, which the driver must reject and not change. */
  readonly withMetadata?: number
  /** Whether the controller is opened with `manage` and has unallocated capacity for one more namespace. */
  readonly manages?: boolean
  readonly options: DriverOptions
  /** Time limit of each command of a plan. */
  readonly timeoutNs: number
  /** Faults inside the simulated controller. */
  readonly inside: FaultPlan
  /** Faults that `faulty` injects between driver and controller. */
  readonly boundary: FaultPlan
  /** Whether the host iterates over the controller's events. */
  readonly watches: boolean
  readonly steps: readonly Step[]
}

/** Properties of the controller that differ from its profile. */
export interface ControllerShape {
  readonly profile: ProfileName
  /** Largest I/O queue: CAP.MQES + 1. */
  readonly maxEntries: number
  readonly dstrd: number
  /** CAP.MPSMIN, which becomes CC.MPS. */
  readonly mpsmin: number
  readonly mdts: number
  readonly ioQueuePairs: number
  readonly fragmented: boolean
  /** Default: true. */
  readonly hasSgl?: boolean
}

/** A namespace of the simulated controller. */
export interface NamespaceShape {
  readonly nsid: number
  readonly blockBytes: 512 | 4096
  readonly blocks: number
}

/** Options with which the controller is opened. */
export type DriverOptions = Required<
  Pick<ControllerOptions, 'queues' | 'queueDepth' | 'maxTransferBytes' | 'readyTimeoutNs' | 'commandTimeoutNs'>
> &
  Pick<ControllerOptions, 'queueEntries' | 'completionQueues' | 'sgl' | 'shadowDoorbells' | 'interrupts'> & {
    readonly recovery: NonNullable<Required<ControllerOptions['recovery']>>
  }

/** NSID in steps that stands for the namespace that the host has created. */
export const CREATED = 0

/** A range of blocks. */
export interface Extent {
  readonly slba: number
  readonly blocks: number
}

/** A call outside plans that reads or changes blocks. */
export type BlockCall =
  | { readonly call: 'copy'; readonly sources: readonly Extent[]; readonly to: number }
  | { readonly call: 'writeZeroes'; readonly range: Extent; readonly deallocate: boolean; readonly fua: boolean }
  | { readonly call: 'deallocate'; readonly ranges: readonly Extent[] }
  | { readonly call: 'verify'; readonly range: Extent }
  /** Compares with the expected content; the data of block `differsAt`, if given, differs. */
  | { readonly call: 'compare'; readonly range: Extent; readonly differsAt?: number }

/** A Format NVM or a change of the namespaces. */
export type Management =
  | { readonly what: 'format'; readonly nsid: number; readonly lbaFormat: 0 | 1 }
  | { readonly what: 'create'; readonly lbaFormat: 0 | 1 }
  | { readonly what: 'attach' | 'detach'; readonly nsid: number }
  | { readonly what: 'delete' }

/** A step of the host. A step that is not possible when its turn comes is skipped, so that any step may be removed. */
export type Step =
  /** A plan of several transfers. If it is aborted, its last commands may not be submitted. */
  | {
      readonly do: 'plan'
      readonly operation: 'read' | 'write'
      readonly nsid: number
      readonly extents: readonly Extent[]
      /** Offset of the data in its first page. */
      readonly shiftBytes: number
      /** Determines the data of a write. */
      readonly salt: number
      /** Time after which its signal is aborted. */
      readonly abortAfterNs?: number
      /** Whether the memory consists of pieces that do not end at page boundaries: only an SGL can describe it. */
      readonly isScattered?: boolean
    }
  | { readonly do: 'read'; readonly nsid: number; readonly slba: number; readonly blocks: number }
  | { readonly do: 'flush'; readonly nsid: number }
  | { readonly do: 'blocks'; readonly nsid: number; readonly call: BlockCall }
  /** A read and a write of the namespace with metadata, which must be rejected. */
  | { readonly do: 'refused' }
  /** Management of namespaces, with no other call in progress. */
  | { readonly do: 'manage'; readonly management: Management }
  | { readonly do: 'reset' }
  /** Loss of power: data that was not flushed may be lost. */
  | { readonly do: 'power' }
  /** Reads the SMART / Health Information log page. */
  | { readonly do: 'smart' }
  /** Lets time pass while calls continue. */
  | { readonly do: 'pass'; readonly ns: number }
  /** Waits for all calls in progress. */
  | { readonly do: 'join' }
  /** Closes the controller while calls are in progress, and opens it again. */
  | { readonly do: 'close' }
