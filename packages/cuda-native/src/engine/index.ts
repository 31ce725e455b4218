export { cpuKernelEngine, type KernelEngineOptions } from './cpu-kernel.js'
export type { KernelEngine } from './kernel-engine.js'
export { EngineUnsuitableError } from './unsuitable.js'
