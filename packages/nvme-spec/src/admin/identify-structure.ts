import type { AnyStruct } from '../layout/struct.js'
import { IdentifyNvmController, IdentifyNvmNamespace } from '../nvm/identify-command-set.js'
import { NamespaceGranularityList } from '../nvm/identify-granularity.js'
import { IdentifyNamespace } from '../nvm/identify-namespace.js'
import { IdentifyZonedController, IdentifyZonedNamespace } from '../zns/identify.js'
import { ActiveNamespaceList, AllocatedNamespaceList, CNS, CSI } from './identify.js'
import { IdentifyController } from './identify-controller.js'
import { IdentifyIndependentNamespace } from './identify-independent.js'
import {
  ControllerList,
  DomainList,
  EnduranceGroupList,
  IoCommandSets,
  NvmSetList,
  UuidList,
} from './identify-lists.js'
import { PrimaryControllerCapabilities, SecondaryControllerList } from './identify-virtualization.js'

const namespaceOf = /*#__PURE__*/ new Map<number, AnyStruct>([
  [CSI.NVM, IdentifyNvmNamespace],
  [CSI.ZNS, IdentifyZonedNamespace],
])
const controllerOf = /*#__PURE__*/ new Map<number, AnyStruct>([
  [CSI.NVM, IdentifyNvmController],
  [CSI.ZNS, IdentifyZonedController],
])

const structures = /*#__PURE__*/ new Map<number, AnyStruct>([
  [CNS.NAMESPACE, IdentifyNamespace],
  [CNS.CONTROLLER, IdentifyController],
  [CNS.ACTIVE_NAMESPACE_LIST, ActiveNamespaceList],
  [CNS.NVM_SET_LIST, NvmSetList],
  [CNS.COMMAND_SET_ACTIVE_NAMESPACE_LIST, ActiveNamespaceList],
  [CNS.INDEPENDENT_NAMESPACE, IdentifyIndependentNamespace],
  [CNS.FORMAT_NAMESPACE, IdentifyNamespace],
  [CNS.ALLOCATED_NAMESPACE_LIST, AllocatedNamespaceList],
  [CNS.ALLOCATED_NAMESPACE, IdentifyNamespace],
  [CNS.ATTACHED_CONTROLLER_LIST, ControllerList],
  [CNS.CONTROLLER_LIST, ControllerList],
  [CNS.PRIMARY_CONTROLLER_CAPABILITIES, PrimaryControllerCapabilities],
  [CNS.SECONDARY_CONTROLLER_LIST, SecondaryControllerList],
  [CNS.NAMESPACE_GRANULARITY_LIST, NamespaceGranularityList],
  [CNS.UUID_LIST, UuidList],
  [CNS.DOMAIN_LIST, DomainList],
  [CNS.ENDURANCE_GROUP_LIST, EnduranceGroupList],
  [CNS.COMMAND_SET_ALLOCATED_NAMESPACE_LIST, AllocatedNamespaceList],
  [CNS.COMMAND_SETS, IoCommandSets],
  [CNS.INDEPENDENT_ALLOCATED_NAMESPACE, IdentifyIndependentNamespace],
])

/**
 * Returns the structure of Identify data by CNS, and by Command Set Identifier if the CNS uses one. Undefined if none
 * is declared. The list of CNS 03h has entries of different lengths: read it with `namespaceIds`. Each structure has
 * its source as `spec`.
 */
export function identifyStructure(cns: number, csi = 0): AnyStruct | undefined {
  switch (cns) {
    case CNS.COMMAND_SET_NAMESPACE:
    case CNS.COMMAND_SET_FORMAT_NAMESPACE:
    case CNS.COMMAND_SET_ALLOCATED_NAMESPACE:
      return namespaceOf.get(csi)
    case CNS.COMMAND_SET_CONTROLLER:
      return controllerOf.get(csi)
    default:
      return structures.get(cns)
  }
}
