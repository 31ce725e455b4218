export { cudaStatus, type CudaDevice, type CudaStatus } from './status.js'
export { cpuKernelEngine, EngineUnsuitableError, KernelEngine, type KernelEngineOptions } from './engine/index.js'
