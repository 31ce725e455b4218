import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { ProfileName } from '../src/index.js'

/** A run of the campaign as data, which can be minimised, written to a file and run again. */
export interface Scenario {
  readonly seed: number
  readonly profile: ProfileName
  readonly fragmented: boolean
  readonly namespaces: readonly NamespaceShape[]
  /** Unallocated capacity, for a namespace that the host creates. Default: 0. */
  readonly spareBytes?: number
  readonly adminEntries: number
  readonly cqs: readonly { readonly qid: number; readonly entries: number; readonly interrupts?: boolean }[]
  readonly sqs: readonly QueueShape[]
  /** Whether to use shadow doorbells, if the controller supports them. */
  readonly shadow?: boolean
  /** Interrupt Coalescing, for runs with MSI-X: the host polls a CQ with `interrupts` only after its vector fired. */
  readonly interrupts?: { readonly threshold: number; readonly time: number }
  /** Settings of weighted round robin. If the controller does not support it, only the burst applies. */
  readonly arbitration?: Arbitration
  /** Whether the volatile write cache is disabled, so that every change survives a power loss. */
  readonly cacheOff?: boolean
  readonly faults: FaultPlan
  readonly steps: readonly Step[]
}

/** Fields of the Arbitration feature: weights are 0's based, `burst` is an exponent of two. */
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
  /** Whether metadata follow the data of each block. Default: false, for a separate buffer. */
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

/** Shape of the SGL that describes the data of a command. */
export interface SglShape {
  /** One Data Block, a last segment, or a segment and a last segment. */
  readonly form: 'block' | 'segment' | 'chain'
  /** Boundaries of the pieces of the data, in thousandths of its length. */
  readonly cuts: readonly number[]
  /** Whether the pieces are in memory in reverse order. */
  readonly isReversed: boolean
  /** Whether Bit Buckets discard every second piece of a Read; other commands get Bit Buckets without effect. */
  readonly hasBuckets: boolean
  /** Whether the SGL is longer than the data. */
  readonly isLonger: boolean
  /** Whether MPTR points to an SGL segment for the metadata, instead of the metadata. */
  readonly describesMetadata: boolean
}

export type SglFlaw = 'sgl-type' | 'sgl-short' | 'sgl-wild' | 'sgl-beyond-last' | 'sgl-not-last'

/** An I/O command, possibly with a deliberate flaw. */
export interface IoOrder {
  readonly operation: IoOperation
  readonly nsid: number
  readonly slba: number
  readonly blocks: number
  /** Source ranges of a Copy. */
  readonly sources?: readonly { readonly slba: number; readonly blocks: number }[]
  /** Offset of the data in the first page of the buffer: a multiple of 4, or any number with an SGL. */
  readonly offsetBytes: number
  /** Determines the data of a Write or Compare; 0 for a Compare with the expected contents. */
  readonly salt: number
  /** Force Unit Access. */
  readonly fua?: boolean
  /** Default: PRPs. */
  readonly sgl?: SglShape
  readonly flaw?: 'lba' | 'nsid' | 'opcode' | 'prp-offset' | 'prp-wild' | SglFlaw
}

/** A fused Compare and Write, possibly with a deliberate flaw. */
export interface FusedOrder {
  readonly compare: IoOrder
  readonly write: IoOrder
  /** Different ranges, or one half that is not marked as fused. */
  readonly flaw?: 'ranges' | 'no-second' | 'no-first'
}

export type AdminOperation = 'identify' | 'identify-namespace' | 'namespace-list' | 'get-features' | 'event' | 'opcode'

/** A Format NVM, or a change of the namespaces. */
export type Management =
  | { readonly what: 'format'; readonly nsid: number; readonly format: number; readonly isExtended: boolean }
  /** Format of a namespace while a command for it hangs. */
  | { readonly what: 'format-busy'; readonly nsid: number }
  | { readonly what: 'create'; readonly format: number; readonly isTooLarge: boolean }
  | { readonly what: 'attach'; readonly nsid: number }
  | { readonly what: 'detach'; readonly nsid: number }
  | { readonly what: 'delete' }

/**
 * A step of the host. A step that is not possible when its turn comes is skipped, so that any step may be removed.
 */
export type Step =
  | { readonly do: 'io'; readonly qid: number; readonly order: IoOrder; readonly ring: boolean }
  | { readonly do: 'fused'; readonly qid: number; readonly order: FusedOrder }
  | { readonly do: 'admin'; readonly operation: AdminOperation }
  | { readonly do: 'manage'; readonly management: Management }
  /** Aborts one of the outstanding commands, counted from the oldest. */
  | { readonly do: 'abort'; readonly qid: number; readonly index: number }
  | { readonly do: 'ring'; readonly qid: number }
  | { readonly do: 'poll'; readonly cqid: number; readonly max: number }
  | { readonly do: 'pass'; readonly ns: number }
  /** Waits for all commands that can still complete. */
  | { readonly do: 'settle' }
  | { readonly do: 'recreate'; readonly cqid: number }
  | { readonly do: 'reset'; readonly how: ResetKind }
  | {
      readonly do: 'mistake'
      readonly what: 'tail' | 'head' | 'no-queue' | 'read-only' | 'head-ahead'
      readonly qid: number
    }

/** Kinds of resets; `power` is a loss of power without a shutdown. */
export type ResetKind = 'controller' | 'function' | 'subsystem' | 'shutdown' | 'power'

/** Maximum data of a command, in bytes: the size of the largest buffer. */
export const MAX_DATA_BYTES = 65536
