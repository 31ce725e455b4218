/*
 * The controller writes data to the GPU and the completion to host memory. PCIe orders writes on one path only, so a
 * visible completion does not imply visible data. CUDA reports how the GPU orders such writes. Attributes and values
 * are those of cuda.h: CUdevice_attribute 117 and 118, CUGPUDirectRDMAWritesOrdering and
 * CUflushGPUDirectRDMAWritesOptions.
 */

/** Numbers of CUdevice_attribute. */
export const DEVICE_ATTRIBUTE = {
  GPU_DIRECT_RDMA_FLUSH_WRITES_OPTIONS: 117,
  GPU_DIRECT_RDMA_WRITES_ORDERING: 118,
  DMA_BUF_SUPPORTED: 124,
} as const

/** CUGPUDirectRDMAWritesOrdering: which readers see writes of another device in order without a flush. */
export const WRITES_ORDERING = { NONE: 0, OWNER: 100, ALL_DEVICES: 200 } as const

/** Bits of CUflushGPUDirectRDMAWritesOptions: supported kinds of flush. */
export const FLUSH_WRITES = { HOST: 1, MEMOPS: 2 } as const

/** Attributes of a GPU, as CUDA reports them. */
export interface OrderingFacts {
  /** Attribute 118. */
  readonly writesOrdering: number
  /** Attribute 117. */
  readonly flushWritesOptions: number
}

/** Why a completion does not imply that data are visible in this GPU's memory. */
export type OrderingRefusal = 'ordering-unknown' | 'flush-unsupported' | 'flush-missing'

/** Whether completions imply visible data, and whether a flush is needed before data are used. */
export type OrderingDecision =
  | { readonly kind: 'ordered' }
  | {
      readonly kind: 'flush'
      /** Must be called after a completion and before data are used. */
      readonly flush: () => void
    }
  | { readonly kind: 'refused'; readonly reason: OrderingRefusal; readonly message: string }

/**
 * Decides how data that a controller writes to GPU memory become visible. A GPU that orders writes needs nothing. Others need
 * cuFlushGPUDirectRDMAWrites after a completion, before data are used. Unknown values are refused.
 * @param facts undefined if the driver does not report them, as before CUDA 11.3.
 * @param flush calls cuFlushGPUDirectRDMAWrites for the GPU that owns the memory, and returns when it is done.
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
