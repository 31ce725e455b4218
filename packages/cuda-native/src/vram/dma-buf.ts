import type { DmaSegment } from '@gpunvme/nvme-spec/transport'
import { VramRefusedError, type VramProvider } from './provider.js'
import { checkGpuRange, segmentsFault } from './segments.js'

/** CUDA_ERROR_NOT_SUPPORTED of cuda.h: libcuda exports no memory of this GPU. */
const CUDA_ERROR_NOT_SUPPORTED = 801

/**
 * Who makes a dma-buf of GPU memory: cuMemGetHandleForAddressRange with CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, which takes
 * address and length in whole pages of the host. A dma-buf holds its memory: it does not go while one is left.
 */
export interface DmaBufExporter {
  /** A file descriptor of the memory, the caller's to close. @throws with `cuResult` where the driver refused. */
  export(gpuPointer: bigint, lengthBytes: number): number
  close(fd: number): void
}

/** A dma-buf that is mapped for the controller; it outlives the file descriptor that it came by. */
export interface DmaBufAttachment {
  /** Where the controller finds it, whatever IOMMU there is; in offset order, adjacent runs merged. */
  readonly segments: readonly DmaSegment[]
  /** Whether its exporter has taken the memory back; absent where the importer cannot know. */
  readonly isRevoked?: boolean
  /** Ends the controller's access and lets go of the memory. @throws what kept it from ending */
  detach(): void
}

/**
 * Who maps a dma-buf for the controller: the kernel module that has the controller, by attaching to it with
 * peer-to-peer allowed, which NVIDIA's exporter asks for. `dmaBufs` of a transport of `@gpunvme/host-driver/kmod` is one.
 */
export interface DmaBufImporter {
  /** @throws where the kernel refuses; nothing stays attached then. */
  attach(fd: number, lengthBytes: number): DmaBufAttachment
}

const NAME = 'dma-buf'

/**
 * GPU memory by a dma-buf of the driver, mapped for the controller by a kernel module: addresses that an IOMMU knows,
 * memory that is held as long as it is mapped. Has not run on a GPU.
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
        found: 'the driver exports no memory of this GPU',
        facts: ['cuMemGetHandleForAddressRange: CUDA_ERROR_NOT_SUPPORTED (801)'],
        next: 'the open kernel modules; libcuda refuses it on GeForce, where the static BAR1 window is what is left',
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
      found: 'it could not be mapped for the controller',
      facts: [String(cause)],
      next: 'look at the kernel log: GPU and controller may have no path to each other',
      cause,
    })
  }
}
