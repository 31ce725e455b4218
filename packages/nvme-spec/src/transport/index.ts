/**
 * Interfaces between the packages, as types without code: transports, engines, clocks and native modules. Code written
 * against them runs on any implementation: nvme-sim (simulator), host-driver (engines, QEMU, hardware), cuda-native
 * (native memory, GPU engines). Units are in the names: …Bytes, …Ns, …Entries, …Blocks.
 * @module
 */

// A transport: one controller
export type { Bar, BarWindow, Transport, TransportCapabilities } from './transport.js'
export type { DmaAllocator, DmaMemory, DmaRequest, DmaSegment } from './transport.js'
export type { Clock, ConfigSpace, Interrupts } from './transport.js'

// An engine: submits the commands of a plan
export type { CommandOutcome, Outcome, OutcomeSummary, Plan } from './plan.js'
export type { CostModel, ThermalThrottle } from './plan.js'
export type { AbortSignalLike, Engine, EngineStatistics, ExecuteOptions } from './engine.js'
export type { CompletionQueueMemory, QueuePairMemory, ShadowDoorbell } from './engine.js'

// Processing of data that has been read
export type {
  Checksummer,
  ChecksummedMemory,
  CopyEngine,
  DeviceMemory,
  FileReader,
  ReadChecksums,
} from './processing.js'

// Native modules
export type { HardwareHost, NativeHost, NativeRegion } from './native.js'
export type { DescriptorKinds, SocketHost, VfioUserHost } from './sockets.js'

// Faults and traces
export type { FaultAction, FaultMatch, FaultPlan, FaultRule } from './faults.js'
export type { TraceCommand, TraceCompletion, TraceEvent, TraceSink } from './trace.js'
