export type { SimulatedCopyEngine } from './gpu/copy-engine.js'
export type { GpuLink, GpuLinkStatistics } from './gpu/gpu-link.js'
export type { SimulatedGpuMemory } from './gpu/gpu-memory.js'
export type { GpuOptions, SimulatedGpu } from './gpu/simulated-gpu.js'
export type { HostMemory } from './memory/host-memory.js'
export type { MemoryAccess, ReachableMemory } from './memory/reachable.js'
export type { SimulationClock } from './time/clock.js'
export { costModel } from './model/cost-model.js'
export type { DriveTiming } from './model/drive-timing.js'
export type { LatencyNs } from './model/latency.js'
export type { LinkProfile } from './model/link.js'
export type { Media } from './media/media.js'
export { RamMedia } from './media/ram.js'
export { unverifiableMedia, type UnverifiableMediaOptions } from './media/unverifiable.js'
export type { NamespaceOptions } from './nvm/namespace.js'
export { deriveProfile, profiles, type ProfileChanges, type ProfileName } from './profiles/index.js'
export type { DriveProfile } from './profiles/profile.js'
export type { PublishedPoint, Workload } from './profiles/published.js'
export type {
  FaultAction,
  FaultMatch,
  FaultPlan,
  FaultRule,
  TraceEvent,
  TraceSink,
  Transport,
} from '@gpunvme/nvme-spec/transport'
export type { FaultReport, InjectedFault } from '@gpunvme/nvme-spec/faults'
export type { RootComplex, RootComplexOptions } from './pci/root-complex.js'
export { simulate, type Simulation, type SimulationOptions } from './simulate.js'
export { SimulatedHost, type SimulatedHostOptions } from './simulated-host.js'
export type { Statistics } from './controller/statistics.js'
export type { Diagnostic, DiagnosticCode } from './controller/diagnostics.js'
export type { HealthChanges } from './logs/health.js'
