// The wire format. The site lists the exports in these groups, under these names (scripts/typedoc-declarations.mjs).

// Registers and doorbells
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

// Queue entries and data pointers
export * from './entries.js'
export * from './prp.js'
export * from './sgl.js'

// Status
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

// Admin queues and events
export * from './admin/queues.js'
export * from './admin/events.js'

// Identify
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

// Features
export * from './admin/features.js'
export * from './admin/features-media.js'
export * from './admin/features-host.js'

// Log pages
export * from './admin/logs.js'
export * from './admin/logs-health.js'
export * from './admin/logs-media.js'
export * from './admin/logs-paths.js'
export * from './admin/logs-events.js'

// Structures by number
export * from './admin/lookup.js'

// Management
export * from './admin/maintenance.js'
export * from './admin/resources.js'
export * from './admin/directives.js'

// NVM Command Set
export * from './nvm/commands.js'
export * from './nvm/identify.js'
export * from './nvm/features.js'
export * from './nvm/protection.js'
export * from './nvm/reservations.js'

// Zoned Namespace Command Set
export * from './zns.js'

// Any command
export * from './commands.js'
export { decodeFields } from './layout/objects.js'

// Errors and values
export * from './error.js'
export * from './limits.js'
export { countOf, zeroBased, type ZeroBased } from './layout/rows.js'
export type { Memory } from './layout/facts.js'
