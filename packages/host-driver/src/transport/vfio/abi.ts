import { bit, struct, u32, u64 } from '@gpunvme/nvme-spec/layout'

/*
 * Numbers and structures of the kernel's interface, as declared in linux/vfio.h of Linux 6.1, with its names in upper
 * case and without the prefix. All are little-endian, as on x86-64 and arm64. Those that vfio-user shares are declared in `@gpunvme/nvme-spec/vfio-user`.
 */

/** ioctl requests: _IO(VFIO_TYPE, VFIO_BASE + n), that is (';' << 8) + 100 + n. The same number means other things on other files. */
export const VFIO = {
  // On the container, /dev/vfio/vfio.
  GET_API_VERSION: 0x3b64,
  CHECK_EXTENSION: 0x3b65,
  SET_IOMMU: 0x3b66,
  IOMMU_GET_INFO: 0x3b70,
  IOMMU_MAP_DMA: 0x3b71,
  IOMMU_UNMAP_DMA: 0x3b72,
  // On a group, /dev/vfio/N.
  GROUP_GET_STATUS: 0x3b67,
  GROUP_SET_CONTAINER: 0x3b68,
  GROUP_GET_DEVICE_FD: 0x3b6a,
  // On a device.
  DEVICE_GET_INFO: 0x3b6b,
  DEVICE_GET_REGION_INFO: 0x3b6c,
  DEVICE_GET_IRQ_INFO: 0x3b6d,
  DEVICE_SET_IRQS: 0x3b6e,
  DEVICE_RESET: 0x3b6f,
} as const

/** VFIO_API_VERSION. */
export const API_VERSION = 0

/** IOMMU models of SET_IOMMU, and extensions of CHECK_EXTENSION. */
export const IOMMU = { TYPE1: 1, TYPE1v2: 3, NOIOMMU: 8 } as const

/** IDs in the capability chain of IOMMU_GET_INFO. */
export const IOMMU_CAPABILITY = { IOVA_RANGE: 1 } as const

export const GroupStatus = struct(
  'vfio_group_status',
  { bytes: 8, doc: 'Status of a group', spec: 'Linux 6.1 linux/vfio.h vfio_group_status' },
  {
    ARGSZ: u32(0, 'Length of the argument in bytes'),
    FLAGS: u32(4, 'Flags', { VIABLE: bit(0, 'Viable'), CONTAINER_SET: bit(1, 'Attached to a container') }),
  },
)

export const IommuInfo = struct(
  'vfio_iommu_type1_info',
  { bytes: 24, doc: 'Properties of the IOMMU', spec: 'Linux 6.1 linux/vfio.h vfio_iommu_type1_info' },
  {
    ARGSZ: u32(0, 'Length of the argument in bytes'),
    FLAGS: u32(4, 'Flags', { PGSIZES: bit(0, 'iova_pgsizes is valid'), CAPS: bit(1, 'Capabilities present') }),
    IOVA_PGSIZES: u64(8, 'Bitmap of supported page sizes'),
    CAP_OFFSET: u32(16, 'Offset of the first capability'),
  },
)

export const DmaMap = struct(
  'vfio_iommu_type1_dma_map',
  { bytes: 32, doc: 'Mapping of memory for the device', spec: 'Linux 6.1 linux/vfio.h vfio_iommu_type1_dma_map' },
  {
    ARGSZ: u32(0, 'Length of the argument in bytes'),
    FLAGS: u32(4, 'Flags', { READ: bit(0, 'The device may read'), WRITE: bit(1, 'The device may write') }),
    VADDR: u64(8, 'Address in this process'),
    IOVA: u64(16, 'Device address'),
    SIZE: u64(24, 'Length in bytes'),
  },
)
