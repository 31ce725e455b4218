import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { ProbeNamespace } from './probe-content.js'

/** Reads and writes GPU memory without the controller: copies of the driver, done when they answer. */
export interface GpuAccess {
  write(gpuPointer: bigint, bytes: Uint8Array): void | Promise<void>
  read(gpuPointer: bigint, lengthBytes: number): Uint8Array | Promise<Uint8Array>
}

/** What a probe looks at. */
export interface ProbeOptions {
  readonly namespace: ProbeNamespace
  /** Of host memory: the same blocks are read through it to compare with. */
  readonly host: DmaAllocator
  /** `withVram` over the provider that is in question. */
  readonly vram: DmaAllocator
  readonly gpu: GpuAccess
  /** How much GPU memory is looked at; 6 MiB when not given, which has three pages of the GPU. */
  readonly lengthBytes?: number
  /** Chooses fill and blocks; any integer. A probe that is repeated does best with another. */
  readonly seed?: number
}

/** What kept a memory from being accepted. Stable across releases. */
export type ProbeRefusal =
  /** Nothing could be compared: the namespace holds too little that cannot be taken for something else. */
  | 'inconclusive'
  /** This controller completes commands without moving their data. */
  | 'moves-no-data'
  /** GPU memory does not hold what was written to it by the GPU's own driver. */
  | 'gpu-access'
  /** A command did not succeed. */
  | 'command-failed'
  /** The command succeeded, and all of the memory is as it was. */
  | 'nothing-arrived'
  /** A part arrived, the rest is as it was. */
  | 'partly-arrived'
  /** Nothing arrived where it belongs, but elsewhere in the memory. */
  | 'wrong-place'
  /** All arrived, and something else in the memory changed. */
  | 'neighbours-written'
  /** What is there was there before the memory was filled: a copy that is not up to date was looked at. */
  | 'stale'
  /** Something else arrived. */
  | 'wrong-content'
  /** The controller does not find in GPU memory what is there. */
  | 'wrong-data-read'
  /** The controller has no Compare, by which reading is proven without writing to the drive. */
  | 'no-compare'

/** What came of a probe. */
export type ProbeVerdict =
  | { readonly isAccepted: true; readonly facts: readonly string[] }
  | {
      readonly isAccepted: false
      readonly reason: ProbeRefusal
      readonly message: string
      readonly facts: readonly string[]
      readonly next?: string
      /**
       * Memory that a failed command may still be writing to: free it when the controller has been stopped, and never
       * where it could not be.
       */
      readonly kept?: DmaMemory
      readonly cause?: unknown
    }

/** @internal */
export function refused(
  reason: ProbeRefusal,
  message: string,
  details: { facts?: readonly string[]; next?: string; kept?: DmaMemory; cause?: unknown } = {},
): ProbeVerdict {
  return { isAccepted: false, reason, message, facts: [], ...details }
}

/** Returns a cause on one line. @internal */
export function firstLine(cause: unknown): string {
  if (cause instanceof GpuNvmeError) return cause.headline
  return cause instanceof Error ? cause.message : String(cause)
}
