import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { DmaSegment } from '@gpunvme/nvme-spec/transport'

/** GPU memory that the controller can access, until `release`. */
export interface VramMapping {
  /** Addresses for the controller: in offset order, without gaps, adjacent runs merged. */
  readonly segments: readonly DmaSegment[]
  /**
   * Whether the exporter has revoked the memory: its addresses may now belong to other memory. The controller was stopped
   * before that. Absent if the memory cannot be revoked.
   */
  readonly isRevoked?: boolean
  /**
   * Ends the controller's access as far as possible; a BAR is always accessible. The controller must not be using the memory.
   * @throws if access cannot be ended: the controller may still use the memory.
   */
  release(): void
}

/**
 * Maps GPU memory to addresses of the controller. Addresses alone prove nothing: probe a provider with `probeWrites` before
 * use. Calls are synchronous, like those of `DmaAllocator`.
 */
export interface VramProvider {
  readonly name: string
  /**
   * Maps memory for the controller.
   * @param gpuPointer address of the first byte for kernels. @param lengthBytes both are multiples of 4096.
   * @throws RangeError for an invalid range; VramRefusedError if the memory cannot be mapped.
   */
  map(gpuPointer: bigint, lengthBytes: number): VramMapping
}

/** Why a provider cannot map memory. Stable across releases. */
export type VramRefusal =
  /** The driver cannot export this memory as a dma-buf: an old or proprietary driver, or a GPU that libcuda excludes. */
  | 'dma-buf-unsupported'
  /** The driver refused to export this memory for another reason. */
  | 'export-failed'
  /** The importer could not map the exported memory. */
  | 'import-failed'
  /** The driver did not report the window. */
  | 'query-failed'
  /** The driver has no static window. */
  | 'window-disabled'
  /** The window is not aligned to pages, or extends beyond the BAR. */
  | 'window-misplaced'
  /** The window covers only a part of the GPU's memory. */
  | 'window-partial'
  /** The GPU has no such BAR, or the system does not list it. */
  | 'no-bar1'
  /** A page was not found in the window. */
  | 'page-unresolved'
  /** A page is compressed or not linear: the window and kernels see different bytes. */
  | 'page-kind'
  /** The segments do not cover the memory exactly. */
  | 'bad-segments'

/** Contents of a `VramRefusedError`. */
export interface VramRefusalDetails {
  readonly provider: string
  readonly reason: VramRefusal
  /** Finding, on one line. */
  readonly found: string
  readonly facts?: readonly string[]
  readonly next?: string
  readonly cause?: unknown
}

/** Error: a provider cannot map GPU memory for the controller. Nothing is mapped, and the memory has its content again. */
export class VramRefusedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VRAM_REFUSED'
  readonly category = 'infeasible'
  readonly provider: string
  readonly reason: VramRefusal
  constructor({ provider, reason, found, ...details }: VramRefusalDetails) {
    super(`GPU memory cannot be mapped for the controller by ${provider}: ${found}`, details)
    this.provider = provider
    this.reason = reason
  }
}
