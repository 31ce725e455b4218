import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { ProbeNamespace } from './probe-content.js'

/** Access to GPU memory by copies of its driver, without the controller. A copy has finished when its call returns or resolves. */
export interface GpuAccess {
  /** Copies bytes to GPU memory. */
  write(gpuPointer: bigint, bytes: Uint8Array): void | Promise<void>
  /** Returns a copy of bytes in GPU memory. */
  read(gpuPointer: bigint, lengthBytes: number): Uint8Array | Promise<Uint8Array>
}

/** Options of `probeWrites` and `probeReads`. */
export interface ProbeOptions {
  readonly namespace: ProbeNamespace
  /** Allocator of host memory, through which the expected content is read. */
  readonly host: DmaAllocator
  /** Allocator of GPU memory: `withVram` over the provider to probe. */
  readonly vram: DmaAllocator
  readonly gpu: GpuAccess
  /** Bytes of GPU memory to probe, a multiple of 2 MiB. Default: 6 MiB, three pages of the GPU. */
  readonly lengthBytes?: number
  /** Seed for fill and choice of blocks; any integer. Use another one to repeat a probe. Default: 1. */
  readonly seed?: number
}

/** Why a probe rejected a memory. Stable across releases. */
export type ProbeRefusal =
  /** The namespace has too little distinguishable content. */
  | 'inconclusive'
  /** The controller completes commands without moving data. */
  | 'moves-no-data'
  /** GPU memory does not hold the bytes that the GPU's driver wrote to it. */
  | 'gpu-access'
  /** A command failed. */
  | 'command-failed'
  /** The command succeeded, but the memory is unchanged. */
  | 'nothing-arrived'
  /** A part of the data arrived; the rest of the target is unchanged. */
  | 'partly-arrived'
  /** Memory outside the target changed, and the target is wrong. */
  | 'wrong-place'
  /** All data arrived, but memory outside the target changed too. */
  | 'neighbours-written'
  /** The memory has content from before it was filled: a stale copy was read. */
  | 'stale'
  /** Other data arrived. */
  | 'wrong-content'
  /** The controller read wrong data from GPU memory. */
  | 'wrong-data-read'
  /** The controller does not support Compare, which proves reads without writing to the drive. */
  | 'no-compare'

/** Result of a probe. */
export type ProbeVerdict =
  | { readonly isAccepted: true; readonly facts: readonly string[] }
  | {
      readonly isAccepted: false
      readonly reason: ProbeRefusal
      readonly message: string
      readonly facts: readonly string[]
      /** What to do about it. */
      readonly next?: string
      /** Memory that a failed command may still write to. Free it only after the controller has been stopped. */
      readonly quarantined?: DmaMemory
      readonly cause?: unknown
    }

/** @internal */
export function refused(
  reason: ProbeRefusal,
  message: string,
  details: { facts?: readonly string[]; next?: string; quarantined?: DmaMemory; cause?: unknown } = {},
): ProbeVerdict {
  return { isAccepted: false, reason, message, facts: [], ...details }
}

/** Returns the message of an error, on one line. @internal */
export function firstLine(cause: unknown): string {
  if (cause instanceof GpuNvmeError) return cause.headline
  return cause instanceof Error ? cause.message : String(cause)
}
