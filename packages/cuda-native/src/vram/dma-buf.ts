import type { DmaSegment } from '@gpunvme/nvme-spec/transport'
import { VramRefusedError, type VramProvider } from './provider.js'
import { checkGpuRange, segmentsFault } from './segments.js'

/** CUDA_ERROR_NOT_SUPPORTED of cuda.h: libcuda cannot export memory of this GPU. */
const CUDA_ERROR_NOT_SUPPORTED = 801

/**
 * Exports GPU memory as a dma-buf, with cuMemGetHandleForAddressRange and CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD. Address and
 * length must be multiples of the host's page size. The memory stays allocated while a dma-buf of it exists.
 */
export interface DmaBufExporter {
  /** Returns a file descriptor, which the caller closes. @throws an error with `cuResult` if the driver refuses. */
  export(gpuPointer: bigint, lengthBytes: number): number
  /** Closes a file descriptor that `export` returned. */
  close(fd: number): void
}

/** A dma-buf that is mapped for the controller. It outlives the file descriptor from which it was created. */
export interface DmaBufAttachment {
  /** Addresses for the controller, through the IOMMU if there is one; in offset order, adjacent runs merged. */
  readonly segments: readonly DmaSegment[]
  /** Whether the exporter has revoked the memory; absent if the importer cannot know. */
  readonly isRevoked?: boolean
  /** Ends the controller's access and releases the memory. @throws if it cannot be ended */
  detach(): void
}

/**
 * Maps a dma-buf for the controller. The kernel module that is bound to the controller attaches to it with peer-to-peer
 * allowed, as NVIDIA's exporter requires: `dmaBufs` of a transport of `@gpunvme/host-driver/kmod`.
 */
export interface DmaBufImporter {
  /** Maps a dma-buf. @throws if the kernel refuses; nothing stays attached then. */
  attach(fd: number, lengthBytes: number): DmaBufAttachment
}

const NAME = 'dma-buf'

/**
 * Returns a provider that exports GPU memory as a dma-buf, which a kernel module maps for the controller. It works with an
 * IOMMU, and the memory stays allocated while it is mapped. Has not run on a GPU.
 */
export function dmaBufProvider(exporter: DmaBufExporter, importer: DmaBufImporter): VramProvider {
  return {
    name: NAME,
    map(gpuPointer, lengthBytes) {
      checkGpuRange(gpuPointer, lengthBytes)
      const fd = exported(exporter, gpuPointer, lengthBytes)
      let attachment: DmaBufAttachment
      try {
        attachment = imported(importer, fd, lengthBytes)
      } finally {
        exporter.close(fd)
      }
      const fault = segmentsFault(attachment.segments, lengthBytes)
      if (fault !== undefined) {
        attachment.detach()
        throw new VramRefusedError({ provider: NAME, reason: 'bad-segments', found: fault })
      }
      return {
        segments: attachment.segments,
        get isRevoked() {
          return attachment.isRevoked === true
        },
        release: () => attachment.detach(),
      }
    },
  }
}

function exported(exporter: DmaBufExporter, gpuPointer: bigint, lengthBytes: number): number {
  try {
    return exporter.export(gpuPointer, lengthBytes)
  } catch (cause) {
    const result = (cause as { cuResult?: unknown } | null)?.cuResult
    if (result === CUDA_ERROR_NOT_SUPPORTED)
      throw new VramRefusedError({
        provider: NAME,
        reason: 'dma-buf-unsupported',
        found: 'the driver cannot export memory of this GPU',
        facts: ['cuMemGetHandleForAddressRange: CUDA_ERROR_NOT_SUPPORTED (801)'],
        next: 'install the open kernel modules; on GeForce, where libcuda refuses, use the static BAR1 window',
        cause,
      })
    throw new VramRefusedError({
      provider: NAME,
      reason: 'export-failed',
      found: 'the driver did not export this memory',
      facts: [`cuMemGetHandleForAddressRange: ${typeof result === 'number' ? `CUresult ${result}` : String(cause)}`],
      cause,
    })
  }
}

function imported(importer: DmaBufImporter, fd: number, lengthBytes: number): DmaBufAttachment {
  try {
    return importer.attach(fd, lengthBytes)
  } catch (cause) {
    throw new VramRefusedError({
      provider: NAME,
      reason: 'import-failed',
      found: 'the dma-buf could not be mapped for the controller',
      facts: [String(cause)],
      next: 'check the kernel log: there may be no path between GPU and controller',
      cause,
    })
  }
}
