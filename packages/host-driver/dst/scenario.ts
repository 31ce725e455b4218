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
  /** For each command of a plan. */
  readonly timeoutNs: number
  /** Faults inside the simulated controller. */
  readonly inside: FaultPlan
  /** Faults between driver and controller, by `faulty`. */
  readonly boundary: FaultPlan
  /** Whether the host iterates over the controller's events. */
  readonly watches: boolean
  readonly steps: readonly Step[]
}

/** Properties of the controller that differ from its profile. */
export interface ControllerShape {
  readonly profile: ProfileName
  /** Largest I/O queue: CAP.MQES + 1. */
  readonly mostEntries: number
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

/** NSID of a step for the namespace that the host has created. */
export const CREATED = 0

/** A range of blocks. */
export interface Extent {
  readonly slba: number
  readonly blocks: number
}

/** A call for blocks outside plans. */
export type BlockCall =
  | { readonly call: 'copy'; readonly sources: readonly Extent[]; readonly to: number }
  | { readonly call: 'writeZeroes'; readonly range: Extent; readonly deallocate: boolean; readonly fua: boolean }
  | { readonly call: 'deallocate'; readonly ranges: readonly Extent[] }
  | { readonly call: 'verify'; readonly range: Extent }
  /** Compares with the expected content; the data of block `differsAt`, if given, differs. */
  | { readonly call: 'compare'; readonly range: Extent; readonly differsAt?: number }

/** A change of the drive. */
export type Management =
  | { readonly what: 'format'; readonly nsid: number; readonly lbaFormat: 0 | 1 }
  | { readonly what: 'create'; readonly lbaFormat: 0 | 1 }
  | { readonly what: 'attach' | 'detach'; readonly nsid: number }
  | { readonly what: 'delete' }

/** A step of the host. A step that has become impossible is passed over, so that a scenario can be minimised. */
export type Step =
  /** A plan of several transfers, of which the last ones may be left out by an abort. */
  | {
      readonly do: 'plan'
      readonly operation: 'read' | 'write'
      readonly nsid: number
      readonly extents: readonly Extent[]
      /** Where in its first page the data begins. */
      readonly shiftBytes: number
      /** What a Write writes. */
      readonly salt: number
      /** Its signal is aborted after so long. */
      readonly abortAfterNs?: number
      /** Whether the memory consists of pieces that do not end at page boundaries: only an SGL can describe it. */
      readonly isScattered?: boolean
    }
  | { readonly do: 'read'; readonly nsid: number; readonly slba: number; readonly blocks: number }
  | { readonly do: 'flush'; readonly nsid: number }
  | { readonly do: 'blocks'; readonly nsid: number; readonly call: BlockCall }
  /** Calls for the namespace with metadata. */
  | { readonly do: 'refused' }
  /** Runs after all calls in progress have ended. */
  | { readonly do: 'manage'; readonly management: Management }
  | { readonly do: 'reset' }
  /** Power loss of the drive, which may lose data that was not flushed. */
  | { readonly do: 'power' }
  /** An Admin command: SMART / Health Information. */
  | { readonly do: 'smart' }
  /** Lets time pass while everything goes on. */
  | { readonly do: 'pass'; readonly ns: number }
  /** Waits for everything that is under way. */
  | { readonly do: 'join' }
  /** Closes, with whatever is under way, and opens again. */
  | { readonly do: 'close' }
