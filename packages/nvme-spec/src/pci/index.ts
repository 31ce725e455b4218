export { AdvancedErrorReporting } from './express.js'
export {
  capabilities,
  extendedCapabilities,
  findCapability,
  findExtendedCapability,
  PCI_CAPABILITY,
  PCI_CONFIG_BYTES,
  PCI_EXTENDED_CAPABILITY,
  PciCapability,
  PciConfigError,
  PCIE_CONFIG_BYTES,
  PciExtendedCapability,
  type Capability,
} from './capabilities.js'
export { payloadBytes, PciExpressCapability } from './express.js'
export { baseAddresses, NVME_CLASS_CODE, PciHeader, type BaseAddress } from './header.js'
export { MsixCapability, msixLayout, MsixTableEntry, type MsixLayout } from './capabilities.js'
export {
  AccessControlServices,
  AddressTranslationServices,
  DownstreamPortContainment,
  ResizableBarEntry,
} from './capabilities.js'
export { PowerManagementCapability } from './capabilities.js'
