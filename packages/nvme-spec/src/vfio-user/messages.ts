import { bit, bits, struct, u16, u32, u64 } from '../layout/index.js'

/** DMA_MAP. A descriptor beside the message is the file that backs the memory; without one it cannot be mapped. */
export const VfioUserDmaMap = struct(
  'vfio-user DMA map',
  { bytes: 32, doc: 'Memory made accessible to the device', spec: 'vfio-user 0.9.2 VFIO_USER_DMA_MAP' },
  {
    ARGSZ: u32(0, 'Bytes'),
    FLAGS: u32(4, 'Flags', { READ: bit(0, 'Readable by the device'), WRITE: bit(1, 'Writable by the device') }),
    OFFSET: u64(8, 'Offset in the file'),
    ADDRESS: u64(16, 'Device address'),
    SIZE: u64(24, 'Bytes'),
  },
)

/**
 * DMA_UNMAP; the reply repeats it. Its flags are those of linux/vfio.h: the document does not define them, QEMU sets
 * ALL.
 */
export const VfioUserDmaUnmap = struct(
  'vfio-user DMA unmap',
  { bytes: 24, doc: 'Memory no longer accessible to the device', spec: 'vfio-user 0.9.2 VFIO_USER_DMA_UNMAP' },
  {
    ARGSZ: u32(0, 'Bytes'),
    FLAGS: u32(4, 'Flags', { GET_DIRTY_BITMAP: bit(0, 'Return the dirty bitmap'), ALL: bit(1, 'All memory') }),
    ADDRESS: u64(8, 'Device address'),
    SIZE: u64(16, 'Bytes'),
  },
)

/** REGION_READ and REGION_WRITE. The data follow a write request and a read reply. */
export const VfioUserRegionAccess = struct(
  'vfio-user region access',
  { bytes: 16, doc: 'An access to a region', spec: 'vfio-user 0.9.2 VFIO_USER_REGION_READ' },
  { OFFSET: u64(0, 'Offset in the region'), REGION: u32(8, 'Region index'), COUNT: u32(12, 'Bytes') },
)

/**
 * DMA_READ and DMA_WRITE: accesses of a device to memory that it could not map. The data follow a write request and a
 * read reply. The document gives the reply to a write a COUNT of 4 bytes; libvfio-user and QEMU send these 16.
 */
export const VfioUserDmaAccess = struct(
  'vfio-user DMA access',
  { bytes: 16, doc: 'An access to memory', spec: 'vfio-user 0.9.2 VFIO_USER_DMA_READ' },
  { ADDRESS: u64(0, 'Device address'), COUNT: u64(8, 'Bytes') },
)

/** Commands (vfio-user 0.9.2 Commands). 14 was withdrawn before that revision. */
export const VFIO_USER = {
  VERSION: 1,
  DMA_MAP: 2,
  DMA_UNMAP: 3,
  DEVICE_GET_INFO: 4,
  DEVICE_GET_REGION_INFO: 5,
  DEVICE_GET_REGION_IO_FDS: 6,
  DEVICE_GET_IRQ_INFO: 7,
  DEVICE_SET_IRQS: 8,
  REGION_READ: 9,
  REGION_WRITE: 10,
  DMA_READ: 11,
  DMA_WRITE: 12,
  DEVICE_RESET: 13,
  REGION_WRITE_MULTI: 15,
  DEVICE_FEATURE: 16,
  MIG_DATA_READ: 17,
  MIG_DATA_WRITE: 18,
} as const

/** The first 16 bytes of every message. */
export const VfioUserHeader = struct(
  'vfio-user header',
  { bytes: 16, doc: 'Header of each message', spec: 'vfio-user 0.9.2 Header' },
  {
    ID: u16(0, 'Message ID, repeated in the reply'),
    COMMAND: u16(2, 'Command'),
    SIZE: u32(4, 'Message size in bytes, including this header'),
    FLAGS: u32(8, 'Flags', {
      TYPE: bits(3, 0, 'Type', { COMMAND: 0, REPLY: 1 }),
      NO_REPLY: bit(4, 'No reply requested'),
      ERROR: bit(5, 'Error reply'),
    }),
    ERROR: u32(12, 'Error: a Linux errno, in error replies'),
  },
)

/** Precedes the JSON text of VERSION, which ends with a NUL. */
export const VfioUserVersion = struct(
  'vfio-user version',
  { bytes: 4, doc: 'Protocol version', spec: 'vfio-user 0.9.2 VFIO_USER_VERSION' },
  { MAJOR: u16(0, 'Major version: 0'), MINOR: u16(2, 'Minor version') },
)

/** Regions of a PCI device, nine in all: VFIO_PCI_BAR0_REGION_INDEX etc. (Linux 6.1 linux/vfio.h). */
export const VFIO_REGION = { BAR0: 0, BAR1: 1, BAR2: 2, BAR3: 3, BAR4: 4, BAR5: 5, ROM: 6, CONFIG: 7, VGA: 8 } as const

/** Interrupt types of a PCI device, five in all: VFIO_PCI_INTX_IRQ_INDEX etc. (Linux 6.1 linux/vfio.h). */
export const VFIO_IRQ = { INTX: 0, MSI: 1, MSIX: 2, ERR: 3, REQ: 4 } as const

/** Identifiers in a region's capability chain: VFIO_REGION_INFO_CAP_SPARSE_MMAP (Linux 6.1 linux/vfio.h). */
export const VFIO_REGION_CAPABILITY = { SPARSE_MMAP: 1 } as const

/** Request and reply of DEVICE_GET_INFO. VFIO_DEVICE_GET_INFO also accepts these fields alone. */
export const VfioUserDeviceInfo = struct(
  'vfio-user device info',
  { bytes: 16, doc: 'Properties of a device', spec: 'vfio-user 0.9.2 VFIO_USER_DEVICE_GET_INFO' },
  {
    ARGSZ: u32(0, 'Maximum bytes of the reply'),
    FLAGS: u32(4, 'Flags', { RESET: bit(0, 'Can be reset'), PCI: bit(1, 'Is a PCI device') }),
    NUM_REGIONS: u32(8, 'Regions'),
    NUM_IRQS: u32(12, 'Number of interrupt types'),
  },
)

/** VFIO_DEVICE_GET_REGION_INFO, and DEVICE_GET_REGION_INFO of vfio-user. */
export const VfioRegionInfo = struct(
  'vfio_region_info',
  { bytes: 32, doc: 'Location of a region in the device file', spec: 'Linux 6.1 linux/vfio.h vfio_region_info' },
  {
    ARGSZ: u32(0, 'Length in bytes, including capabilities'),
    FLAGS: u32(4, 'Flags', {
      READ: bit(0, 'Readable'),
      WRITE: bit(1, 'Writable'),
      MMAP: bit(2, 'Mappable'),
      CAPS: bit(3, 'Has capabilities'),
    }),
    INDEX: u32(8, 'Region index'),
    CAP_OFFSET: u32(12, 'Offset of the first capability'),
    SIZE: u64(16, 'Length of the region in bytes'),
    OFFSET: u64(24, 'Offset in the device file'),
  },
)

/** First bytes of each capability. */
export const VfioCapability = struct(
  'vfio_info_cap_header',
  { bytes: 8, doc: 'Header of each capability', spec: 'Linux 6.1 linux/vfio.h vfio_info_cap_header' },
  { ID: u16(0, 'ID'), VERSION: u16(2, 'Version'), NEXT: u32(4, 'Offset of the next capability, or 0') },
)

/** Follows the header of SPARSE_MMAP; NR_AREAS areas follow it. */
export const VfioSparseMmap = struct(
  'vfio_region_info_cap_sparse_mmap',
  { bytes: 8, doc: 'Mappable areas of a region', spec: 'Linux 6.1 linux/vfio.h vfio_region_info_cap_sparse_mmap' },
  { NR_AREAS: u32(0, 'Number of areas') },
)

/** One area of SPARSE_MMAP. */
export const VfioSparseArea = struct(
  'vfio_region_sparse_mmap_area',
  { bytes: 16, doc: 'A mappable area', spec: 'Linux 6.1 linux/vfio.h vfio_region_sparse_mmap_area' },
  { OFFSET: u64(0, 'Offset in the region'), SIZE: u64(8, 'Bytes') },
)

/** VFIO_DEVICE_GET_IRQ_INFO, and DEVICE_GET_IRQ_INFO of vfio-user. */
export const VfioIrqInfo = struct(
  'vfio_irq_info',
  { bytes: 16, doc: 'Interrupts of one type', spec: 'Linux 6.1 linux/vfio.h vfio_irq_info' },
  {
    ARGSZ: u32(0, 'Bytes'),
    FLAGS: u32(4, 'Flags', {
      EVENTFD: bit(0, 'Signalled by eventfd'),
      MASKABLE: bit(1, 'Maskable'),
      AUTOMASKED: bit(2, 'Masked automatically when signalled'),
      NORESIZE: bit(3, 'Number of vectors cannot grow'),
    }),
    INDEX: u32(8, 'Interrupt type'),
    COUNT: u32(12, 'Number of interrupts'),
  },
)

/**
 * VFIO_DEVICE_SET_IRQS, and DEVICE_SET_IRQS of vfio-user. The data follow: with vfio a 32-bit descriptor for each
 * vector, -1 for none; with vfio-user the descriptors are beside the message.
 */
export const VfioIrqSet = struct(
  'vfio_irq_set',
  { bytes: 20, doc: 'Setup of interrupt signalling', spec: 'Linux 6.1 linux/vfio.h vfio_irq_set' },
  {
    ARGSZ: u32(0, 'Length in bytes, including data'),
    FLAGS: u32(4, 'Flags', {
      DATA_NONE: bit(0, 'No data'),
      DATA_BOOL: bit(1, 'Bytes'),
      DATA_EVENTFD: bit(2, 'File descriptors'),
      ACTION_MASK: bit(3, 'Mask'),
      ACTION_UNMASK: bit(4, 'Unmask'),
      ACTION_TRIGGER: bit(5, 'Trigger'),
    }),
    INDEX: u32(8, 'Interrupt type'),
    START: u32(12, 'First vector'),
    COUNT: u32(16, 'Number of vectors'),
  },
)
