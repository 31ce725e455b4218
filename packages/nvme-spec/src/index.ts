export {
  Abort,
  AbortDw0,
  AEI_ERROR,
  AEI_IMMEDIATE,
  AEI_IO_COMMAND,
  AEI_NOTICE,
  AEI_ONE_SHOT,
  AEI_SMART,
  AET,
  AsyncEventDw0,
  AsyncEventDw1,
  AsyncEventRequest,
  eventInformation,
  formatAsyncEvent,
} from './admin/events.js'
export { NumberOfQueues } from './admin/feature/number-of-queues.js'
export { FID, GetFeatures, SetFeatures } from './admin/features.js'
export { ActiveNamespaceList, CNS, Identify, IDENTIFY_BYTES } from './admin/identify.js'
export { IdentifyController } from './admin/identify-controller.js'
export { CreateIoCq, CreateIoSq, DeleteIoCq, DeleteIoSq } from './admin/queues.js'
export { commandOf, decodeSqe, formatSqe, type DecodedSqe } from './commands.js'
export { CQE, formatCqe } from './cqe.js'
export { cqHeadDoorbell, CQyHDBL, DOORBELL_BASE, sqTailDoorbell, SQyTDBL } from './doorbells.js'
export { GpuNvmeError, type ErrorCategory, type ErrorDetails } from './error.js'
export { countOf, zeroBased, type ZeroBased } from './layout/zero-based.js'
export { MAX_BLOCKS_PER_COMMAND, maxTransferBytes, memoryPageBytes } from './limits.js'
export { Flush } from './nvm/flush.js'
export { IdentifyNamespace, lbaFormatIndex } from './nvm/identify-namespace.js'
export { Read, Write } from './nvm/read-write.js'
export { layPrps, prpEntries, prpListBytes, prpListReach, type PrpMemory } from './prp.js'
export { BPINFO, BPMBL, BPRSEL } from './registers-boot.js'
export { CMBEBS, CMBLOC, CMBMSC, CMBSTS, CMBSWTP, CMBSZ } from './registers-cmb.js'
export { PMRCAP, PMRCTL, PMREBS, PMRMSCL, PMRMSCU, PMRSTS, PMRSWTP } from './registers-pmr.js'
export { ACQ, AQA, ASQ, CAP, CC, CRTO, CSTS, INTMC, INTMS, NSSD, NSSR, registers, VS } from './registers.js'
export {
  decodeSglDescriptor,
  formatSglDescriptor,
  KeyedSglDataBlock,
  SGL1_OFFSET,
  SGL_DESCRIPTOR_BYTES,
  SGL_SUB_TYPE,
  SGL_TYPE,
  SglBitBucket,
  SglDataBlock,
  SglDescriptor,
  SglLastSegment,
  SglSegment,
  TransportSglDataBlock,
  type DecodedSglDescriptor,
} from './sgl.js'
export { mustRing, shadowCqHead, shadowSqTail } from './shadow-doorbells.js'
export { SQE } from './sqe.js'
export { formatStatus, STATUS, statusName, type StatusCode } from './status.js'
