import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { ProfileName } from '../src/index.js'

/** A run of the campaign as data, which can be minimised, written to a file and run again. */
export interface Scenario {
  readonly seed: number
  readonly profile: ProfileName
  readonly fragmented: boolean
  readonly namespaces: readonly NamespaceShape[]
  /** Unallocated capacity for a namespace that the host creates. Default: 0. */
  readonly spareBytes?: number
  readonly adminEntries: number
  readonly cqs: readonly { readonly qid: number; readonly entries: number; readonly interrupts?: boolean }[]
  readonly sqs: readonly QueueShape[]
  /** Doorbells are in host memory, if the controller supports that. */
  readonly shadow?: boolean
  /** MSI-X: a completion queue with `interrupts` is polled only after its vector has fired. */
  readonly interrupts?: { readonly threshold: number; readonly time: number }
  /** Weighted round robin, if the controller supports it; otherwise only the burst applies. */
  readonly arbitration?: Arbitration
  /** The drive's volatile cache is disabled: every change survives a loss of power. */
  readonly cacheOff?: boolean
  readonly faults: FaultPlan
  readonly steps: readonly Step[]
}

/** Settings of the Arbitration feature, as in its dword: weights are 0's based, the burst is a power of two. */
export interface Arbitration {
  readonly weights: readonly [high: number, medium: number, low: number]
  readonly burst: number
}

export interface QueueShape {
  readonly qid: number
  readonly entries: number
  readonly cqid: number
  /** QPRIO: 0 is Urgent, 3 is Low. */
  readonly priority?: number
}

export interface NamespaceShape {
  readonly nsid: number
  readonly blockBytes: 512 | 4096
  readonly blocks: number
  readonly metadataBytes?: 0 | 8 | 16 | 64
  /** Whether metadata follow the data of each block. Default: in a separate buffer. */
  readonly isExtended?: boolean
}

export type IoOperation =
  | 'read'
  | 'write'
  | 'compare'
  | 'write-zeroes'
  | 'write-uncorrectable'
  | 'deallocate'
  | 'copy'
  | 'verify'
  | 'flush'

/** How an SGL describes the data of a command. */
export interface SglShape {
  /** One Data Block, a Last Segment, or a Segment and a Last Segment. */
  readonly form: 'block' | 'segment' | 'chain'
  /** Where the data is cut into pieces, in thousandths of its length. */
  readonly cuts: readonly number[]
  /** The pieces lie in memory in reverse order. */
  readonly isReversed: boolean
  /** Every second piece of a Read is discarded by a Bit Bucket; other commands get Bit Buckets without effect. */
  readonly hasBuckets: boolean
  /** The list is longer than the data. */
  readonly isLonger: boolean
  /** Metadata are described by a segment at MPTR, not by an address. */
  readonly describesMetadata: boolean
}

export type SglFlaw = 'sgl-type' | 'sgl-short' | 'sgl-wild' | 'sgl-beyond-last' | 'sgl-not-last'

/** An I/O command, and what is deliberately wrong with it. */
export interface IoOrder {
  readonly operation: IoOperation
  readonly nsid: number
  readonly slba: number
  readonly blocks: number
  /** Source ranges of a Copy. */
  readonly sources?: readonly { readonly slba: number; readonly blocks: number }[]
  /** Offset of the data in its buffer, in the first page: a multiple of 4, or with an SGL any number. */
  readonly offsetBytes: number
  /** Content that a Write writes, and a Compare compares with; 0 for a Compare with the expected contents. */
  readonly salt: number
  /** Force Unit Access. */
  readonly fua?: boolean
  /** Default: PRPs. */
  readonly sgl?: SglShape
  readonly flaw?: 'lba' | 'nsid' | 'opcode' | 'prp-offset' | 'prp-wild' | SglFlaw
}

/** A fused Compare and Write, and its deliberate mistake. */
export interface FusedOrder {
  readonly compare: IoOrder
  readonly write: IoOrder
  /** The ranges differ, or one of the commands is not fused. */
  readonly flaw?: 'ranges' | 'no-second' | 'no-first'
}

export type AdminOperation = 'identify' | 'identify-namespace' | 'namespace-list' | 'get-features' | 'event' | 'opcode'

/** Management of namespaces by a host. */
export type Management =
  | { readonly what: 'format'; readonly nsid: number; readonly format: number; readonly isExtended: boolean }
  /** Format of a namespace while a command for it hangs. */
  | { readonly what: 'format-busy'; readonly nsid: number }
  | { readonly what: 'create'; readonly format: number; readonly isTooLarge: boolean }
  | { readonly what: 'attach'; readonly nsid: number }
  | { readonly what: 'detach'; readonly nsid: number }
  | { readonly what: 'delete' }

/**
 * The host's next action. A step that makes no sense when its turn comes is skipped, so that any step may be removed.
 */
export type Step =
  | { readonly do: 'io'; readonly qid: number; readonly order: IoOrder; readonly ring: boolean }
  | { readonly do: 'fused'; readonly qid: number; readonly order: FusedOrder }
  | { readonly do: 'admin'; readonly operation: AdminOperation }
  | { readonly do: 'manage'; readonly management: Management }
  /** Aborts one of the outstanding commands, counted from the oldest. */
  | { readonly do: 'abort'; readonly qid: number; readonly index: number }
  | { readonly do: 'ring'; readonly qid: number }
  | { readonly do: 'poll'; readonly cqid: number; readonly most: number }
  | { readonly do: 'pass'; readonly ns: number }
  /** Waits until everything has completed that still can. */
  | { readonly do: 'settle' }
  | { readonly do: 'recreate'; readonly cqid: number }
  | { readonly do: 'reset'; readonly how: ResetKind }
  | {
      readonly do: 'mistake'
      readonly what: 'tail' | 'head' | 'no-queue' | 'read-only' | 'head-ahead'
      readonly qid: number
    }

/** `power` is a loss of power without a shutdown. */
export type ResetKind = 'controller' | 'function' | 'subsystem' | 'shutdown' | 'power'

/** Maximum data of one command, so that every buffer fits. */
export const MOST_DATA_BYTES = 65536
