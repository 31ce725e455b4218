/*
 * Data go to the GPU, their completion to host memory. PCIe keeps writes in order along one path only, so that who sees
 * the completion does not thereby know that the data are there. CUDA says what its GPU does about it; attributes and
 * values are those of cuda.h, CUdevice_attribute 117 and 118, CUGPUDirectRDMAWritesOrdering and
 * CUflushGPUDirectRDMAWritesOptions.
 */

/** Numbers of CUdevice_attribute, for whoever asks the driver. */
export const DEVICE_ATTRIBUTE = {
  GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS: 117,
  GPU_DIRECT_RDMA_WRITES_ORDERING: 118,
  DMA_BUF_SUPPORTED: 124,
} as const

/** CUGPUDirectRDMAWritesOrdering: for whom writes of another device are in order without being flushed. */
export const WRITES_ORDERING = { NONE: 0, OWNER: 100, ALL_DEVICES: 200 } as const

/** Bits of CUflushGPUDirectRDMAWritesOptions: who can flush. */
export const FLUSH_WRITES = { HOST: 1, MEMOPS: 2 } as const

/** What CUDA said of a GPU. */
export interface OrderingFacts {
  /** Attribute 118. */
  readonly writesOrdering: number
  /** Attribute 117. */
  readonly flushWritesOptions: number
}

/** Why completions say nothing of data in this GPU's memory. */
export type OrderingRefusal = 'ordering-unknown' | 'flush-unsupported' | 'flush-missing'

/** Whether completions can be trusted, and what has to be done before data are handed out. */
export type OrderingDecision =
  | { readonly kind: 'ordered' }
  | { readonly kind: 'flush'; readonly flush: () => void }
  | { readonly kind: 'refused'; readonly reason: OrderingRefusal; readonly message: string }

/**
 * Decides from the driver's answers. A GPU that orders writes for itself needs nothing; another needs
 * cuFlushGPUDirectRDMAWrites after a completion and before anybody looks at the data. What is not known is not assumed.
 * @param facts undefined where the driver did not answer, as before CUDA 11.3.
 * @param flush calls cuFlushGPUDirectRDMAWrites, to the GPU that owns the memory, and returns when it is done.
 */
export function decideOrdering(facts: OrderingFacts | undefined, flush?: () => void): OrderingDecision {
  if (facts === undefined || !isKnown(facts.writesOrdering))
    return refused('ordering-unknown', 'unknown whether data are in GPU memory when their completion is visible')
  if (facts.writesOrdering >= WRITES_ORDERING.OWNER) return { kind: 'ordered' }
  if ((facts.flushWritesOptions & FLUSH_WRITES.HOST) === 0)
    return refused(
      'flush-unsupported',
      'this GPU does not keep writes of other devices in order, and the host cannot flush them',
    )
  if (flush === undefined)
    return refused('flush-missing', 'this GPU requires cuFlushGPUDirectRDMAWrites, which was not provided')
  return { kind: 'flush', flush }
}

function isKnown(ordering: number): boolean {
  return Object.values<number>(WRITES_ORDERING).includes(ordering)
}

function refused(reason: OrderingRefusal, message: string): OrderingDecision {
  return { kind: 'refused', reason, message }
}
