export { dmaBufProvider, type DmaBufAttachment, type DmaBufExporter, type DmaBufImporter } from './dma-buf.js'
export {
  negotiateTier,
  type AcceptedMemory,
  type Demotion,
  type DemotionCode,
  type ProviderCandidate,
  type Tier,
  type TierRequest,
  type TierResult,
} from './negotiate.js'
export {
  decideOrdering,
  DEVICE_ATTRIBUTE,
  FLUSH_WRITES,
  WRITES_ORDERING,
  type OrderingDecision,
  type OrderingFacts,
  type OrderingRefusal,
} from './ordering.js'
export { probeReads } from './probe-reads.js'
export type { GpuAccess, ProbeOptions, ProbeRefusal, ProbeVerdict } from './probe-verdict.js'
export { probeWrites } from './probe-writes.js'
export type { ProbeNamespace } from './probe-content.js'
export {
  VramRefusedError,
  type VramMapping,
  type VramProvider,
  type VramRefusal,
  type VramRefusalDetails,
} from './provider.js'
export { GPU_PAGE_BYTES, type SyncGpuAccess, type WindowView } from './find-pages.js'
export { nvidiaStaticBar1, type NvidiaStaticBar1Options, type StaticBar1Candidate } from './nvidia-static-bar1.js'
export type { GpuBar } from './pci-facts.js'
export { openStaticBar1, type BarRun, type GpuBarRuns, type StaticBar1Options } from './static-bar1.js'
export {
  decodeStaticBar1Info,
  FB_GET_STATIC_BAR1_INFO,
  queryStaticBar1,
  StaticBar1Info,
  StaticBar1Info565,
  type StaticBar1Window,
} from './static-bar1-info.js'
export {
  VramKeptError,
  VramRevokedError,
  withVram,
  type GpuMemorySource,
  type VramAllocator,
  type VramOptions,
} from './with-vram.js'
