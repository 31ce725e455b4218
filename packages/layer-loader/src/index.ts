export { hasCode, LoaderError } from './error.js'
export { zlibChecksummer } from './checksum/zlib-checksummer.js'
export type { LayerOptions } from './formats/model-index.js'
export { COPY_OFFSET_BYTES, DATA_START_BYTES, FORMAT_VERSION, type CheckedExtent, type Extent } from './image/format.js'
export { type SuperblockCopy } from './image/copies.js'
export { ImageContentError } from './image/json.js'
export type { Manifest, PackedLayer, PackedSource, PackedTensor } from './image/manifest.js'
export { ModelNotInImageError, openImage, type Image, type PackedModel } from './image/open-image.js'
export { ImageChecksumError } from './image/read-region.js'
export type { Remedy } from './image/remedy.js'
export { SUPERBLOCK, SuperblockError, type Superblock } from './image/superblock.js'
export { LOAD_CHANNEL, type LoadEvent } from './load/events.js'
export { ExpertCache, openExpertCache } from './load/expert-cache.js'
export type { ExpertCacheOptions, ExpertCacheStatistics } from './load/expert-options.js'
export type { CheckUnit, StoredExtent, StoredModel, StoredPiece, StoredRun } from './load/extent.js'
export { Lease, type LoadReport, type LoadStatistics } from './load/lease.js'
export { ExtentTooLongError } from './load/check-extent.js'
export { Loader, openLoader, type RequestOptions } from './load/loader.js'
export type { LoadPlan, Move, PlacedPiece, PlacedUnit } from './load/load-plan.js'
export { openModelInFiles, type ModelInFiles, type ModelInFilesOptions } from './load/model-in-files.js'
export { modelInPlace, type FileRun } from './load/model-in-place.js'
export { loadPlanFor, type LoaderOptions, type Verification } from './load/options.js'
export type { LoaderStatistics } from './load/statistics.js'
export { Ticket, type Priority, type TicketState } from './load/ticket.js'
export { VerificationError } from './load/verification-error.js'
export { loadTensor, type LoadTensorOptions } from './load-tensor.js'
export type { PackPlan } from './pack/lay-out.js'
export { pack, type PackOptions, type PackProgress, type PackReceipt } from './pack/pack.js'
export { planPack, type PlanPackOptions } from './pack/plan-pack.js'
export { previewPack, type PackPreview, type PreviewOptions } from './pack/preview-pack.js'
export { removeModel, type RemoveOptions, type RemoveReceipt } from './pack/remove-model.js'
export { NamespaceTooSmallError } from './pack/room.js'
export { BudgetInfeasibleError } from './residence/budget-infeasible.js'
export { CopyMismatchError } from './residence/copy-check.js'
export { expertLayers, type ExpertLayer, type LayersWithTensors } from './residence/expert-sizes.js'
export { hostCopies, hostLayers, type HostCopyEngine, type HostCopyMemory } from './residence/host-copies.js'
export type { Places, SlotCounts } from './residence/lay-out.js'
export type { LinkTimes } from './residence/link-times.js'
export { layerSizes, loaderSource, type LoaderSourceOptions } from './residence/loader-source.js'
export { measureCost, type MeasureOptions } from './residence/measure-cost.js'
export { planExperts, type ExpertPlan, type ExpertPlanOptions } from './residence/plan-experts.js'
export {
  planResidence,
  type Budget,
  type BudgetUse,
  type LayerSize,
  type ResidenceOptions,
  type ResidencePlan,
} from './residence/plan.js'
export type { PassTimes, PlacedLayer, Prediction, ReadShape } from './residence/predict.js'
export type { DriftBand, RateDrift } from './residence/rate-watch.js'
export { replan, type ObservedRates } from './residence/replan.js'
export type { ResidentLease } from './residence/resident-lease.js'
export {
  openResidence,
  type PassOptions,
  type ResidenceParts,
  type ResidenceStatistics,
  type ResidentModel,
} from './residence/resident-model.js'
export type { LayerSource, LoadedLayer, SlotReader, SlotRoom } from './residence/source.js'
export type { Residence } from './residence/spread.js'
export type { SustainedPass } from './residence/sustained.js'
export type { BlockSet, SetMember, SetStatistics, WritableBlockSet } from './sets/block-set.js'
export {
  createMirror,
  createStripe,
  eraseSet,
  planMirror,
  planStripe,
  SetPlan,
  type CreateSetOptions,
  type CreateStripeOptions,
  type StripeShape,
} from './sets/create-set.js'
export {
  DEFAULT_UNIT_BYTES,
  MIN_UNIT_BYTES,
  MEMBER_DATA_BYTES,
  MAX_MEMBERS,
  MAX_UNIT_BYTES,
  type SetKind,
} from './sets/format.js'
export { SET_LABEL, SetLabelError, type LabelField } from './sets/label.js'
export { measureWeights, type MeasureWeightsOptions } from './sets/measure.js'
export { SetMemberError, type MemberVerb } from './sets/member-error.js'
export { openSet, type OpenSetOptions } from './sets/open-set.js'
export type { SetProblem } from './sets/problem.js'
export { completeLabels } from './sets/write-label.js'
export { findUses, type StoreUse } from './sets/store-use.js'
export { rebuildMirror, type RebuildOptions } from './sets/rebuild.js'
export { readSourceHeader } from './source-header.js'
export { asStore, type Readable, type Writable } from './store/as-store.js'
export { openFileStore, type FileStore, type FileStoreOptions } from './store/file-store.js'
export {
  openWritableFileStore,
  type WritableFileStore,
  type WritableFileStoreOptions,
} from './store/file-store-writable.js'
export { joinStores, type JoinedStore } from './store/joined-store.js'
export { namespaceStore } from './store/namespace-store.js'
export { checkTransfers } from './store/store.js'
export { storeSource } from './store/store-source.js'
export type { BlockStore, DeviceShare, StoreSummary, StoreTransfer, WritableBlockStore } from './store/store.js'
export { streamLayers, type LayerStream } from './stream/layer-stream.js'
export { planStream, type StreamOptions, type StreamProgress, type StreamShape } from './stream/options.js'
export type { StreamStatistics } from './stream/statistics.js'
export { verifyImage, type VerifyOptions, type VerifyProgress, type VerifyReport } from './verify-image.js'
export { SliceMismatchError } from './verify-slices.js'
