/**
 * The vfio-user protocol: a program presents a PCI function over a Unix domain socket to a client, such as QEMU 10.1
 * and later (`vfio-user-pci`) or SPDK. Declares structures, numbers, and the text of VERSION, all little endian.
 *
 * The cited revision is the last one that had a number. It was published in libvfio-user (docs/vfio-user.rst, commit
 * 99e0e09) and is continued, without numbers, in QEMU (docs/interop/vfio-user.rst). What both define is declared.
 */
export { VfioUserDmaAccess, VfioUserDmaMap, VfioUserDmaUnmap, VfioUserRegionAccess } from './messages.js'
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
} from './messages.js'
export { VFIO_USER, VfioUserHeader, VfioUserVersion } from './messages.js'
export {
  decodeVersion,
  encodeVersion,
  VFIO_USER_CAPABILITIES,
  VFIO_USER_VERSION_BYTES,
  type VfioUserCapabilities,
  type VfioUserVersionMessage,
} from './version.js'
