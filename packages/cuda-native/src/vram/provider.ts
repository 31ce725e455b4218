import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { DmaSegment } from '@gpunvme/nvme-spec/transport'

/** GPU memory that the controller can reach, until `release`. */
export interface VramMapping {
  /** Where the controller finds it: in offset order, without gaps, adjacent runs merged. */
  readonly segments: readonly DmaSegment[]
  /**
   * Whether whoever owns the memory has taken it back meanwhile: the addresses are somebody else's then. Absent where
   * nobody can. The controller was stopped before that.
   */
  readonly isRevoked?: boolean
  /**
   * Ends the controller's access as far as the provider can; a BAR that is always there cannot be taken away. The
   * controller must not be using it. @throws what kept it from ending: the memory is then still the controller's.
   */
  release(): void
}

/**
 * A way to turn GPU memory into addresses of the controller. That it gives addresses proves nothing: whatever it maps
 * is used only after `probeWrites` has seen content arrive there. It answers at once, as `DmaAllocator` does: the calls
 * behind it are ioctls and calls of the driver.
 */
export interface VramProvider {
  readonly name: string
  /**
   * @param gpuPointer of the first byte, a multiple of 4096; `lengthBytes` is one too.
   * @throws RangeError for a range that cannot be, VramRefusedError where there is no way to that memory.
   */
  map(gpuPointer: bigint, lengthBytes: number): VramMapping
}

/** Why a provider gives no addresses. Stable across releases. */
export type VramRefusal =
  /** The driver exports no dma-buf of this memory: an old or proprietary driver, or a GPU that libcuda refuses. */
  | 'dma-buf-unsupported'
  /** The driver refused to export this memory for another reason. */
  | 'export-failed'
  /** Whoever speaks for the controller could not reach what was exported. */
  | 'import-failed'
  /** The driver did not answer the question for the window. */
  | 'query-failed'
  /** The driver keeps no static window. */
  | 'window-disabled'
  /** The window is not at whole pages, or reaches beyond the BAR. */
  | 'window-misplaced'
  /** The window holds only a part of the GPU's memory. */
  | 'window-partial'
  /** The GPU has no such BAR, or the system does not say where it is. */
  | 'no-bar1'
  /** The controller's addresses are translated, so that an address of the bus means something else to it. */
  | 'iommu'
  /** It is not known where a page of the memory lies. */
  | 'page-unresolved'
  /** A page lies where none can: between pages, outside the window, or where another page of it lies. */
  | 'page-misplaced'
  /** A page is compressed, or laid out otherwise: the window shows other bytes than kernels see. */
  | 'page-kind'
  /** The addresses that were given do not make up the memory. */
  | 'bad-segments'

/** What a refusal is made of. */
export interface VramRefusalDetails {
  readonly provider: string
  readonly reason: VramRefusal
  /** What was found, on one line. */
  readonly found: string
  readonly facts?: readonly string[]
  readonly next?: string
  readonly cause?: unknown
}

/** A provider gives no addresses for GPU memory. Nothing is mapped, and nothing was written anywhere. */
export class VramRefusedError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_VRAM_REFUSED'
  readonly category = 'infeasible'
  readonly provider: string
  readonly reason: VramRefusal
  constructor({ provider, reason, found, ...details }: VramRefusalDetails) {
    super(`GPU memory is not reachable for the controller by ${provider}: ${found}`, details)
    this.provider = provider
    this.reason = reason
  }
}
