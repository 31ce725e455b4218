export { cudaStatus, type CudaDevice, type CudaStatus } from './status.js'
export { cpuKernelEngine, EngineUnsuitableError, type KernelEngine, type KernelEngineOptions } from './engine/index.js'
export { NativeAddonError, type TriedAddon } from './native-addon.js'
