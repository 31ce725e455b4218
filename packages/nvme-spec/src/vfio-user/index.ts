/**
 * vfio-user: how a program presents a PCI function over a Unix domain socket to one that uses it, as QEMU 10.1 and later
 * (`vfio-user-pci`) and SPDK do. Structures and numbers alone; all of it is little-endian.
 */
export { VfioUserDmaAccess, VfioUserDmaMap, VfioUserDmaUnmap, VfioUserRegionAccess } from './access.js'
export {
  VFIO_IRQ,
  VFIO_REGION,
  VFIO_REGION_CAPABILITY,
  VfioCapability,
  VfioIrqInfo,
  VfioIrqSet,
  VfioRegionInfo,
  VfioSparseArea,
  VfioSparseMmap,
  VfioUserDeviceInfo,
} from './device.js'
export { VFIO_USER, VfioUserHeader, VfioUserVersion } from './message.js'
