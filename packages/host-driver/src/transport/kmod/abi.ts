import { bit, n64, struct, u16, u32, u64, u8 } from '@gpunvme/nvme-spec/layout'

/*
 * Numbers and structures of the module gpunvme, as declared in kmod/uapi/gpunvme_ioctl.h, with its names in upper case
 * and without the prefix. A test compares them with that header. Every structure begins with its own size; reserved
 * members are not declared, and so are zero.
 */

/** ioctl requests: _IOWR(0xE7, n, structure), that is direction 3 << 30, size << 16, 0xE7 << 8, n. */
export const KMOD = {
  GET_INFO: 0xc080e700,
  ALLOC_COHERENT: 0xc028e701,
  PIN_USER: 0xc030e702,
  IMPORT_DMABUF: 0xc028e703,
  GET_MEMORY: 0xc020e704,
  RELEASE: 0xc010e705,
  SET_BUS_MASTER: 0xc010e706,
  RESET: 0xc010e707,
  SET_IRQ: 0xc010e708,
  SET_NOTIFY: 0xc010e709,
  READ_CONFIG: 0xc018e70a,
} as const

export type KmodRequest = keyof typeof KMOD

/** Supported GPUNVME_ABI_VERSION. */
export const ABI_VERSION = 1

/** Maximum bytes of one handle, and of coherent kernel memory. */
export const MAX_LENGTH = 0x1_0000_0000
export const MAX_COHERENT_LENGTH = 0x400_0000

/** Offset of BAR0 in the node, for mmap. */
export const MMAP_BAR0 = 0

/** Values of `gpunvme_info.iommu_mode`. */
export const IOMMU_MODE = { NONE: 0, IDENTITY: 1, TRANSLATED: 2 } as const

/** Methods of RESET, and bits of `gpunvme_info.reset_methods`. */
export const RESET_METHOD = { FUNCTION: 1, BUS: 2 } as const

const size = u32(0, 'Size of the structure in bytes')

export const Info = struct(
  'gpunvme_info',
  { bytes: 128, doc: 'Properties and state of the controller', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_info' },
  {
    SIZE: size,
    ABI_VERSION: u32(8, 'Version of the interface'),
    EVENTS: u32(12, 'Events since the node was opened', {
      REVOKED: bit(0, 'The memory of a dma-buf was revoked'),
      RESET: bit(1, 'External reset'),
      SUSPEND: bit(2, 'Suspend of the machine'),
      ERROR: bit(3, 'PCIe error recovery'),
    }),
    PCI_DOMAIN: u32(16, 'PCI domain'),
    PCI_BUS: u8(20, 'PCI bus'),
    PCI_DEVICE: u8(21, 'PCI device'),
    PCI_FUNCTION: u8(22, 'PCI function'),
    PCI_REVISION: u8(23, 'Revision ID'),
    VENDOR_ID: u16(24, 'Vendor ID'),
    DEVICE_ID: u16(26, 'Device ID'),
    SUBSYSTEM_VENDOR_ID: u16(28, 'Subsystem Vendor ID'),
    SUBSYSTEM_DEVICE_ID: u16(30, 'Subsystem ID'),
    BAR0_LENGTH: n64(32, 'Length of BAR0 in bytes'),
    BAR0_MAPPABLE_LENGTH: n64(40, 'Length of the mappable part of BAR0 in bytes, from offset 0'),
    MSIX_TABLE_OFFSET: n64(48, 'Offset of the MSI-X Table in its BAR'),
    MSIX_TABLE_BAR: u32(56, 'BAR of the MSI-X Table'),
    IRQ_VECTORS: u32(60, 'Number of MSI-X vectors'),
    IOMMU_MODE: u32(64, 'IOMMU mode'),
    DMA_ADDRESS_BITS: u32(68, 'Width of a DMA address in bits'),
    MAX_SEGMENT_LENGTH: n64(72, 'Maximum length of a segment in bytes'),
    PAGE_SIZE: u32(80, 'Page size in bytes'),
    NUMA_NODE: u32(84, 'NUMA node; all ones if unknown'),
    LINK_SPEED: u32(88, 'Current link speed'),
    LINK_WIDTH: u32(92, 'Current number of lanes'),
    MAX_LINK_SPEED: u32(96, 'Maximum link speed'),
    MAX_LINK_WIDTH: u32(100, 'Maximum number of lanes'),
    MAX_PAYLOAD_SIZE: u32(104, 'Maximum payload size in bytes'),
    MAX_READ_REQUEST_SIZE: u32(108, 'Maximum read request size in bytes'),
    POWER_STATE: u32(112, 'Power state, D0 to D3'),
    BUS_MASTER: u32(116, 'Bus mastering: 1 if enabled'),
    RESET_METHODS: u32(120, 'Supported reset methods', {
      FUNCTION: bit(0, 'Reset of this function'),
      BUS: bit(1, 'Reset of the link to it'),
    }),
  },
)

export const AllocCoherent = struct(
  'gpunvme_alloc_coherent',
  {
    bytes: 40,
    doc: 'Allocation of contiguous kernel memory',
    spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_alloc_coherent',
  },
  {
    SIZE: size,
    LENGTH: n64(8, 'Length in bytes'),
    IOVA: n64(16, 'Device address'),
    MMAP_OFFSET: n64(24, 'Offset in the node, for mmap'),
    HANDLE: u32(32, 'Handle for RELEASE'),
  },
)

export const Segment = struct(
  'gpunvme_segment',
  { bytes: 24, doc: 'Contiguous part of memory', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_segment' },
  {
    OFFSET: n64(0, 'Offset in the memory'),
    IOVA: n64(8, 'Device address'),
    LENGTH: n64(16, 'Length in bytes'),
  },
)

/** Accesses of the controller: GPUNVME_DEVICE_READS and GPUNVME_DEVICE_WRITES. */
const accesses = { READS: bit(0, 'The device reads'), WRITES: bit(1, 'The device writes') }

export const PinUser = struct(
  'gpunvme_pin_user',
  {
    bytes: 48,
    doc: 'Pinning of memory of the calling process',
    spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_pin_user',
  },
  {
    SIZE: size,
    FLAGS: u32(4, 'Flags', accesses),
    ADDRESS: u64(8, 'Address in this process'),
    LENGTH: n64(16, 'Length in bytes'),
    SEGMENTS: u64(24, 'Address of the segment array'),
    SEGMENT_CAPACITY: u32(32, 'Capacity of the segment array'),
    SEGMENT_COUNT: u32(36, 'Number of segments'),
    HANDLE: u32(40, 'Handle for RELEASE'),
  },
)

export const ImportDmaBuf = struct(
  'gpunvme_import_dmabuf',
  { bytes: 40, doc: 'Import of a dma-buf', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_import_dmabuf' },
  {
    SIZE: size,
    FLAGS: u32(4, 'Flags', { ...accesses, DYNAMIC: bit(2, 'Allow peer-to-peer access and revocation') }),
    FD: u32(8, 'File descriptor of the dma-buf'),
    SEGMENT_CAPACITY: u32(12, 'Capacity of the segment array'),
    SEGMENTS: u64(16, 'Address of the segment array'),
    LENGTH: n64(24, 'Length of the dma-buf in bytes'),
    SEGMENT_COUNT: u32(32, 'Number of segments'),
    HANDLE: u32(36, 'Handle for RELEASE'),
  },
)

export const Memory = struct(
  'gpunvme_memory',
  { bytes: 32, doc: 'Properties of the memory of a handle', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_memory' },
  {
    SIZE: size,
    HANDLE: u32(8, 'Handle'),
    KIND: u32(12, 'Kind of memory'),
    LENGTH: n64(16, 'Length in bytes'),
    SEGMENT_COUNT: u32(24, 'Number of segments'),
    REVOKED: u32(28, '1 if the exporter has revoked the memory'),
  },
)

export const Release = struct(
  'gpunvme_release',
  { bytes: 16, doc: 'Release of memory', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_release' },
  { SIZE: size, HANDLE: u32(8, 'Handle') },
)

export const SetBusMaster = struct(
  'gpunvme_set_bus_master',
  {
    bytes: 16,
    doc: 'Enable or disable bus mastering',
    spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_set_bus_master',
  },
  { SIZE: size, ENABLE: u32(8, '1 to enable, 0 to disable') },
)

export const Reset = struct(
  'gpunvme_reset',
  { bytes: 16, doc: 'Reset of the controller', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_reset' },
  { SIZE: size, METHOD: u32(8, 'Reset method') },
)

export const SetIrq = struct(
  'gpunvme_set_irq',
  { bytes: 16, doc: 'Eventfd of an MSI-X vector', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_set_irq' },
  { SIZE: size, VECTOR: u32(8, 'Vector'), FD: u32(12, 'Eventfd; all ones for none') },
)

export const SetNotify = struct(
  'gpunvme_set_notify',
  { bytes: 16, doc: 'Eventfd of events and removal', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_set_notify' },
  { SIZE: size, FD: u32(8, 'Eventfd; all ones for none') },
)

export const ReadConfig = struct(
  'gpunvme_read_config',
  { bytes: 24, doc: 'Read of configuration space', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_read_config' },
  { SIZE: size, OFFSET: u32(8, 'Offset'), WIDTH: u32(12, 'Width in bytes: 1, 2 or 4'), VALUE: u32(16, 'Value') },
)

/** File descriptor -1: none, or the removal of an eventfd. */
export const NO_FD = 0xffff_ffff
