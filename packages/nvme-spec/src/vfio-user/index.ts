/**
 * vfio-user: how a program presents a PCI function over a Unix domain socket to one that uses it, as QEMU 10.1 and later
 * (`vfio-user-pci`) and SPDK do. Structures, numbers, and the text of VERSION; all of it is little-endian.
 *
 * The revision that is cited is the last one that the document named: it lay in libvfio-user (docs/vfio-user.rst, commit
 * 99e0e09), and has gone on without a number in QEMU, docs/interop/vfio-user.rst. What both have is declared.
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
export {
  decodeVersion,
  encodeVersion,
  VFIO_USER_CAPABILITIES,
  VFIO_USER_VERSION_BYTES,
  type VfioUserCapabilities,
  type VfioUserVersionMessage,
} from './version.js'
