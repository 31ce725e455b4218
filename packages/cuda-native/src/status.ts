/** Whether the GPU can be used from this process, and if not, why and what to do about it. Plain JSON. */
export interface CudaStatus {
  readonly available: false
  /** Stable across releases; `message` and `next` are for people. */
  readonly code: 'ERR_GPUNVME_CUDA_NOT_BUILT'
  readonly message: string
  readonly next: string
}

/** Never throws and touches no device: a program may ask on any machine, before it decides on an engine. */
export function cudaStatus(): CudaStatus {
  return {
    available: false,
    code: 'ERR_GPUNVME_CUDA_NOT_BUILT',
    message: 'This release of @gpunvme/cuda-native has no CUDA code: its native addon serves the host alone',
    next: "openEngine('host', transport) of @gpunvme/tools/open, which runs everywhere",
  }
}
