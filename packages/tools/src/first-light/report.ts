import type { DriveFacts } from '../drive/named-drive.js'
import type { Choice } from '../rig/choice.js'
import type { MachineFacts } from './machine-facts.js'

/** Steps in their order; the text output numbers them from 1. */
export const STEPS = [
  'machine',
  'reference',
  'bind',
  'identify',
  'read-cpu',
  'doorbell',
  'read-gpu-doorbell',
  'read-cpu-doorbell',
  'tier',
  'load',
  'restore',
] as const

export type StepName = (typeof STEPS)[number]

/** `running` in a finished file means that the machine or the process stopped in this step. */
export type Outcome = 'passed' | 'failed' | 'skipped' | 'running'

/** Result of `gpunvme first-light`. It names no serial number, unique identifier, host, user or directory. */
export interface FirstLightReport {
  /** Versions of gpunvme and Node.js. */
  readonly gpunvme: string
  readonly node: string
  /** In the format of Date.toISOString(). */
  readonly startedAt: string
  drive: DriveFacts
  /** CUDA's number of the GPU. */
  readonly gpu: number
  /** Whether --static-bar1 was given. */
  readonly staticBar1: boolean
  /** `interrupted`: by a signal. `failed`: at least one step failed. */
  outcome: 'running' | 'passed' | 'failed' | 'interrupted'
  /** Steps that have begun or were skipped. */
  readonly steps: StepEntry[]
}

/** Facts of a step. Each step has at most one of the members. */
export interface StepFacts {
  machine?: MachineFacts
  reference?: ReferenceFacts
  binding?: BindingFacts
  controller?: ControllerFacts
  reads?: ReadFacts
  doorbell?: DoorbellFacts
  tier?: TierFacts
  load?: LoadFacts
}

export interface StepEntry extends StepFacts {
  readonly step: StepName
  outcome: Outcome
  /** Wall time; absent while the step runs, and if it was skipped. */
  wallMs?: number
  /** Why it was skipped. */
  reason?: string
  /** Why it failed. */
  error?: { readonly code: string; readonly message: string }
}

/** Origin of the bytes that reads are compared with: Linux's block device, the image file, or a read by the CPU. */
export type Oracle = 'linux' | 'image' | 'cpu'

export interface ReferenceFacts {
  readonly comparedWith: Oracle
  readonly capacityBytes: number
  readonly blockBytes: number
  readonly extents: number
  readonly bytes: number
  /** Extents of one repeated byte, such as zeros: a read of another place would not be noticed there. */
  readonly uniform: number
}

export interface BindingFacts {
  /** Driver during the steps; null for none. */
  readonly driver: string | null
  readonly previous: string | null
  readonly reason: string
}

export interface ControllerFacts {
  readonly model: string
  readonly firmware: string
  readonly nvmeVersion: string | null
  readonly namespaces: readonly {
    readonly nsid: number
    readonly blocks: number
    readonly blockBytes: number
    /** Whether this driver can read its format. */
    readonly isSupported: boolean
  }[]
  readonly queues: number
  readonly queueDepth: number
  /** MDTS in bytes; null for no limit. */
  readonly maxTransferBytes: number | null
  /** CAP.TO in milliseconds: the time limit to become ready. */
  readonly readyTimeoutMs: number
  /** CAP.MQES. */
  readonly maxQueueEntries: number
  /** CAP.DSTRD in bytes. */
  readonly doorbellStrideBytes: number
  /** Time of the bring-up. */
  readonly bringUpMs: number
}

export interface ReadFacts {
  readonly comparedWith: Oracle
  readonly extents: number
  readonly bytes: number
  readonly uniform: number
  /** Extents with other bytes than the reference. */
  readonly differing: readonly DifferingExtent[]
}

export interface DifferingExtent {
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** Offset in the extent of the first byte that differs. */
  readonly firstDifference: number
  readonly differingBytes: number
  /** Bytes that still have the value from before the read. */
  readonly untouchedBytes: number
}

export interface DoorbellFacts {
  readonly arrived: boolean
  readonly stores: readonly { readonly value: number; readonly seen: number; readonly arrived: boolean }[]
  /** Whether the registers are memory, so that the result does not apply to a bus. */
  readonly isSimulated: boolean
}

export interface TierFacts {
  readonly chosen: string
  readonly reason: string
  readonly rejected: Choice['rejected']
  /** Engine of the probe, with the rejected ones. */
  readonly engine: { readonly chosen: string; readonly reason: string; readonly rejected: Choice['rejected'] }
}

export interface LoadFacts {
  readonly layers: number
  readonly layersVerified: number
  readonly bytes: number
  /** 0: no GPU. */
  readonly tier: number
  /** Each decision of the rig: engine, tier, verification. */
  readonly why: readonly { readonly subject: string; readonly chosen: string; readonly reason: string }[]
}
