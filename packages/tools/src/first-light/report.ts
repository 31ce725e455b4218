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

/** `running` in a report of an ended process: the machine or process stopped in this step. */
export type Outcome = 'passed' | 'failed' | 'skipped' | 'running'

/** Result of `gpunvme first-light`. All text passes a `Redactor` before it is saved or printed. */
export interface FirstLightReport {
  /** Versions of gpunvme and Node.js. */
  readonly gpunvme: string
  readonly node: string
  /** In the format of Date.toISOString(). */
  readonly startedAt: string
  drive: DriveFacts
  /** CUDA index of the GPU. */
  readonly gpu: number
  /** Whether --static-bar1 was given. */
  readonly staticBar1: boolean
  /**
   * `failed`: at least one step failed. `incomplete`: no step failed, but a step that tests the drive with a GPU was
   * skipped, or the restore of a bound drive. `interrupted`: by a signal.
   */
  outcome: 'running' | 'passed' | 'incomplete' | 'failed' | 'interrupted'
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
  /** Extents filled with one repeated byte: a read from a wrong offset may go undetected there. */
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
  /** Extents whose bytes differ from the reference. */
  readonly differing: readonly DifferingExtent[]
}

export interface DifferingExtent {
  readonly offsetBytes: number
  readonly lengthBytes: number
  /** Offset in the extent of the first byte that differs. */
  readonly firstDifference: number
  readonly differingBytes: number
  /** Differing bytes that still hold the fill value from before the read. */
  readonly untouchedBytes: number
}

export interface DoorbellFacts {
  readonly arrived: boolean
  readonly stores: readonly { readonly value: number; readonly seen: number; readonly arrived: boolean }[]
  /** True if the registers are simulated in memory: the result says nothing about PCIe. */
  readonly isSimulated: boolean
}

export interface TierFacts {
  readonly chosen: string
  readonly reason: string
  readonly rejected: Choice['rejected']
  /** Engine of the probe, and the rejected engines. */
  readonly engine: { readonly chosen: string; readonly reason: string; readonly rejected: Choice['rejected'] }
}

export interface LoadFacts {
  readonly layers: number
  readonly layersVerified: number
  readonly bytes: number
  /** 0: no GPU. */
  readonly tier: number
  /** Each decision of the rig: engine, tier, verification. */
  readonly decisions: readonly { readonly subject: string; readonly chosen: string; readonly reason: string }[]
}
