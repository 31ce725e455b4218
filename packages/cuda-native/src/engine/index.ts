export { cpuKernelEngine, type KernelEngineOptions } from './cpu-kernel.js'
export { KernelEngine } from './kernel-engine.js'
export { EngineUnsuitableError } from './unsuitable.js'
