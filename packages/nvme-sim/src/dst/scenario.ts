import type { FaultPlan } from '@gpunvme/nvme-spec/transport'
import type { ProfileName } from '../profiles/index.js'

/** A run of the campaign as data: it can be cut down, written to a file and run again. */
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

/** What an I/O command asks for, and what is wrong with it on purpose. */
export interface IoOrder {
  readonly operation: IoOperation
  readonly nsid: number
  readonly slba: number
  readonly blocks: number
  /** Where in its buffer the data begins: a multiple of 4 in the first page. */
  readonly offsetBytes: number
  /** What a Write writes, and a Compare compares with; 0 for a Compare with what should be there. */
  readonly salt: number
  readonly flaw?: 'lba' | 'nsid' | 'opcode' | 'prp-offset' | 'prp-wild'
}

export type AdminOperation = 'identify' | 'identify-namespace' | 'namespace-list' | 'get-features' | 'event' | 'opcode'

/** What the host does next. A step that makes no sense when its turn comes is passed over, so that any may be left out. */
export type Step =
  | { readonly do: 'io'; readonly qid: number; readonly order: IoOrder; readonly ring: boolean }
  | { readonly do: 'admin'; readonly operation: AdminOperation }
  /** Aborts one of the commands that are out, counted from the oldest. */
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

/** The blocks that one command may have at most, so that every buffer fits. */
export const MOST_DATA_BYTES = 65536
