export { NativeAddonError, type TriedAddon } from '../native-addon.js'
export {
  cudaStatus,
  type CudaDevice,
  type CudaEngineSupport,
  type CudaEngineReason,
  type CudaStatus,
} from '../status.js'
export { BlackwellRegistersError } from './blackwell.js'
export { cudaChecksummer, CudaChecksummer, type CudaChecksummerOptions } from './checksummer.js'
export { CudaCopyEngine, type CopyEngineOptions } from './copy-engine.js'
export { Cuda, CudaUnavailableError, openCuda, type ClosedCuda, type CudaOptions, type Extent } from './cuda.js'
export type { CudaObstacle } from './driver.js'
export { CudaBusyError, CudaCallError, CudaRegistrationError, CudaTimeoutError, type FailedCall } from './errors.js'
export { CudaGraph } from './graph.js'
export type { KernelArgument } from './kernels.js'
export { CudaMemorySource } from './memory-source.js'
export { GpuMemory, HostRegistration, PinnedMemory } from './memory.js'
export { cudaPeers, type CudaPeer, type CudaPeers, type CudaPeerAccess } from './peers.js'
export { CudaPattern, type PatternCheck } from './pattern.js'
export { CudaPeerCopier, type PeerCopierOptions } from './peer-copier.js'
export { readThrough, type ReadThrough } from './read-through.js'
export { DeviceArray, type ArrayStatistics, type DeviceArrayOptions } from '../device/device-array.js'
export { DeviceBuffer } from '../device/device-buffer.js'
export { deviceOutcome, type DeviceOutcome } from '../device/device-outcome.js'
export {
  deviceQueues,
  DeviceQueues,
  GpuDevice,
  type DeviceDrive,
  type DeviceNamespace,
  type DeviceOptions,
  type DeviceQueuesOptions,
  type DriveFacts,
} from '../device/device-queues.js'
export { ExpertFetch, type ExpertFetchOptions, type FetchResult, type FetchTable } from '../device/expert-fetch.js'
export {
  LendingEngine,
  QueuesLentError,
  WritableTooLateError,
  type LendingEngineOptions,
} from '../device/lending-engine.js'
export type { QueueState } from '../device/lent-queues.js'
export { cudaEngine, type CudaEngineOptions } from '../engine/cuda.js'
export { registerLookup, type NvidiaModule, type RegisterLookup } from './register-lookup.js'
export { CudaRegisterWriter, type RegisterWindow } from './register-writer.js'
export { scatterEntries, type ScatterPiece } from './scatter-entries.js'
export { CudaStream } from './stream.js'
