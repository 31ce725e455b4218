// The wire format, a line for each chapter of the specifications.
export * from './registers.js'
export {
  cqHeadDoorbell,
  CQyHDBL,
  DOORBELL_BASE,
  mustRing,
  shadowCqHead,
  shadowSqTail,
  sqTailDoorbell,
  SQyTDBL,
} from './doorbells.js'
export * from './entries.js'
export * from './prp.js'
export * from './sgl.js'
export {
  formatStatus,
  mayRetry,
  STATUS,
  statusName,
  statusOf,
  type Retry,
  type Status,
  type StatusCode,
  type StatusScope,
  type StatusTable,
} from './status.js'
export * from './fabrics/status.js'

export * from './admin/queues.js'
export * from './admin/events.js'
export {
  ActiveNamespaceList,
  AllocatedNamespaceList,
  CNS,
  ControllerList,
  CSI,
  DomainAttributes,
  DomainList,
  EnduranceGroupList,
  Identify,
  IDENTIFY_BYTES,
  IdentifyIndependentNamespace,
  IoCommandSets,
  IoCommandSetVector,
  NamespaceIdDescriptor,
  namespaceIds,
  NIDT,
  NvmSetAttributes,
  NvmSetList,
  PrimaryControllerCapabilities,
  SecondaryController,
  SecondaryControllerList,
  UuidList,
  UuidListEntry,
  type NamespaceId,
} from './admin/identify.js'
export * from './admin/identify-controller.js'
export * from './admin/features.js'
export * from './admin/features-media.js'
export * from './admin/features-host.js'
export * from './admin/logs.js'
export * from './admin/logs-health.js'
export * from './admin/logs-media.js'
export * from './admin/logs-paths.js'
export * from './admin/logs-events.js'
export * from './admin/lookup.js'
export * from './admin/maintenance.js'
export * from './admin/resources.js'
export * from './admin/directives.js'

export * from './nvm/commands.js'
export * from './nvm/identify.js'
export * from './nvm/features.js'
export * from './nvm/protection.js'
export * from './nvm/reservations.js'
export * from './zns.js'

export * from './commands.js'
export * from './error.js'
export * from './limits.js'
export { countOf, zeroBased, type ZeroBased } from './layout/rows.js'
