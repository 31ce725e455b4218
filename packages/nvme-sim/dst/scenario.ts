import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { ProfileName } from '../src/index.js'

/** A run of the campaign as data, which can be minimised, written to a file and run again. */
export interface Scenario {
  readonly seed: number
  readonly profile: ProfileName
  readonly fragmented: boolean
  readonly namespaces: readonly NamespaceShape[]
  readonly adminEntries: number
  readonly cqs: readonly { readonly qid: number; readonly entries: number }[]
  readonly sqs: readonly { readonly qid: number; readonly entries: number; readonly cqid: number }[]
  readonly faults: FaultPlan
  readonly steps: readonly Step[]
}

export interface NamespaceShape {
  readonly nsid: number
  readonly blockBytes: 512 | 4096
  readonly blocks: number
}

export type IoOperation = 'read' | 'write' | 'compare' | 'write-zeroes' | 'deallocate' | 'verify' | 'flush'

/** An I/O command, and what is deliberately wrong with it. */
export interface IoOrder {
  readonly operation: IoOperation
  readonly nsid: number
  readonly slba: number
  readonly blocks: number
  /** Offset of the data in its buffer: a multiple of 4 in the first page. */
  readonly offsetBytes: number
  /** Content that a Write writes, and a Compare compares with; 0 for a Compare with the expected contents. */
  readonly salt: number
  readonly flaw?: 'lba' | 'nsid' | 'opcode' | 'prp-offset' | 'prp-wild'
}

export type AdminOperation = 'identify' | 'identify-namespace' | 'namespace-list' | 'get-features' | 'event' | 'opcode'

/**
 * The host's next action. A step that makes no sense when its turn comes is skipped, so that any step may be removed.
 */
export type Step =
  | { readonly do: 'io'; readonly qid: number; readonly order: IoOrder; readonly ring: boolean }
  | { readonly do: 'admin'; readonly operation: AdminOperation }
  /** Aborts one of the outstanding commands, counted from the oldest. */
  | { readonly do: 'abort'; readonly qid: number; readonly index: number }
  | { readonly do: 'ring'; readonly qid: number }
  | { readonly do: 'poll'; readonly cqid: number; readonly most: number }
  | { readonly do: 'pass'; readonly ns: number }
  /** Waits until everything has completed that still can. */
  | { readonly do: 'settle' }
  | { readonly do: 'recreate'; readonly cqid: number }
  | { readonly do: 'reset'; readonly how: 'controller' | 'function' | 'subsystem' | 'shutdown' }
  | {
      readonly do: 'mistake'
      readonly what: 'tail' | 'head' | 'no-queue' | 'read-only' | 'head-ahead'
      readonly qid: number
    }

/** Maximum data of one command, so that every buffer fits. */
export const MOST_DATA_BYTES = 65536
