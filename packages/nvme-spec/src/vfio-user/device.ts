import { bit, struct, u16, u32, u64 } from '../layout/index.js'

/** Regions of a PCI device, nine in all: VFIO_PCI_BAR0_REGION_INDEX and so on (Linux 6.1 linux/vfio.h). */
export const VFIO_REGION = { BAR0: 0, BAR1: 1, BAR2: 2, BAR3: 3, BAR4: 4, BAR5: 5, ROM: 6, CONFIG: 7, VGA: 8 } as const

/** Kinds of interrupts of a PCI device, five in all: VFIO_PCI_INTX_IRQ_INDEX and so on (Linux 6.1 linux/vfio.h). */
export const VFIO_IRQ = { INTX: 0, MSI: 1, MSIX: 2, ERR: 3, REQ: 4 } as const

/** Of a region's capability chain: VFIO_REGION_INFO_CAP_SPARSE_MMAP (Linux 6.1 linux/vfio.h). */
export const VFIO_REGION_CAPABILITY = { SPARSE_MMAP: 1 } as const

/** DEVICE_GET_INFO, asked for and answered. */
export const VfioUserDeviceInfo = struct(
  'vfio-user device info',
  { bytes: 16, doc: 'What a device is', spec: 'vfio-user 0.9.2 VFIO_USER_DEVICE_GET_INFO' },
  {
    ARGSZ: u32(0, 'Most bytes of the answer'),
    FLAGS: u32(4, 'Flags', { RESET: bit(0, 'Can be reset'), PCI: bit(1, 'Is a PCI device') }),
    NUM_REGIONS: u32(8, 'Regions'),
    NUM_IRQS: u32(12, 'Kinds of interrupts'),
  },
)

/** VFIO_DEVICE_GET_REGION_INFO, and DEVICE_GET_REGION_INFO of vfio-user. */
export const VfioRegionInfo = struct(
  'vfio_region_info',
  { bytes: 32, doc: 'Where a region lies in the device file', spec: 'Linux 6.1 linux/vfio.h vfio_region_info' },
  {
    ARGSZ: u32(0, 'Bytes, with capabilities'),
    FLAGS: u32(4, 'Flags', {
      READ: bit(0, 'Can be read'),
      WRITE: bit(1, 'Can be written'),
      MMAP: bit(2, 'Can be mapped'),
      CAPS: bit(3, 'Has capabilities'),
    }),
    INDEX: u32(8, 'Which region'),
    CAP_OFFSET: u32(12, 'Where capabilities begin'),
    SIZE: u64(16, 'Bytes of the region'),
    OFFSET: u64(24, 'From the start of the device file'),
  },
)

/** First bytes of each capability. */
export const VfioCapability = struct(
  'vfio_info_cap_header',
  { bytes: 8, doc: 'First bytes of each capability', spec: 'Linux 6.1 linux/vfio.h vfio_info_cap_header' },
  { ID: u16(0, 'ID'), VERSION: u16(2, 'Version'), NEXT: u32(4, 'Where the next one begins, or 0') },
)

/** What follows the header of SPARSE_MMAP; NR_AREAS areas follow it. */
export const VfioSparseMmap = struct(
  'vfio_region_info_cap_sparse_mmap',
  { bytes: 8, doc: 'What of a region can be mapped', spec: 'Linux 6.1 linux/vfio.h vfio_region_info_cap_sparse_mmap' },
  { NR_AREAS: u32(0, 'How many areas') },
)

/** One area of SPARSE_MMAP. */
export const VfioSparseArea = struct(
  'vfio_region_sparse_mmap_area',
  { bytes: 16, doc: 'An area that can be mapped', spec: 'Linux 6.1 linux/vfio.h vfio_region_sparse_mmap_area' },
  { OFFSET: u64(0, 'From the start of the region'), SIZE: u64(8, 'Bytes') },
)

/** VFIO_DEVICE_GET_IRQ_INFO, and DEVICE_GET_IRQ_INFO of vfio-user. */
export const VfioIrqInfo = struct(
  'vfio_irq_info',
  { bytes: 16, doc: 'What interrupts there are of a kind', spec: 'Linux 6.1 linux/vfio.h vfio_irq_info' },
  {
    ARGSZ: u32(0, 'Bytes'),
    FLAGS: u32(4, 'Flags', {
      EVENTFD: bit(0, 'By eventfd'),
      MASKABLE: bit(1, 'Can be masked'),
      AUTOMASKED: bit(2, 'Masks itself when it is signalled'),
      NORESIZE: bit(3, 'The set of vectors does not grow'),
    }),
    INDEX: u32(8, 'Which kind'),
    COUNT: u32(12, 'How many of it'),
  },
)

/**
 * VFIO_DEVICE_SET_IRQS, and DEVICE_SET_IRQS of vfio-user, without its data, which follow: of vfio a descriptor of 32 bits for
 * each vector, -1 for none; those of vfio-user come beside the message.
 */
export const VfioIrqSet = struct(
  'vfio_irq_set',
  { bytes: 20, doc: 'What interrupts are to signal', spec: 'Linux 6.1 linux/vfio.h vfio_irq_set' },
  {
    ARGSZ: u32(0, 'Bytes, with data'),
    FLAGS: u32(4, 'Flags', {
      DATA_NONE: bit(0, 'No data'),
      DATA_BOOL: bit(1, 'Bytes'),
      DATA_EVENTFD: bit(2, 'File descriptors'),
      ACTION_MASK: bit(3, 'Mask'),
      ACTION_UNMASK: bit(4, 'Unmask'),
      ACTION_TRIGGER: bit(5, 'Trigger'),
    }),
    INDEX: u32(8, 'Which kind'),
    START: u32(12, 'First vector'),
    COUNT: u32(16, 'How many'),
  },
)
