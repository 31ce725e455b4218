import { bit, n64, struct, u16, u32, u64, u8 } from '@gpunvme/nvme-spec/layout'

/*
 * Numbers and structures of the module gpunvme, as kmod/uapi/gpunvme_ioctl.h declares them, by its names, in upper case
 * and without the prefix. A test compares all of it with that header. Every structure begins with its own size; members
 * that are reserved there are not declared, and so are zero.
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

/** GPUNVME_ABI_VERSION that this was written for. */
export const ABI_VERSION = 1

/** The longest memory of one handle, and the longest of the kernel's. */
export const MAX_LENGTH = 0x1_0000_0000
export const MAX_COHERENT_LENGTH = 0x400_0000

/** Where in the node BAR0 begins, for mmap. */
export const MMAP_BAR0 = 0

/** Values of `gpunvme_info.iommu_mode`. */
export const IOMMU_MODE = { NONE: 0, IDENTITY: 1, TRANSLATED: 2 } as const

/** Methods of RESET, and bits of `gpunvme_info.reset_methods`. */
export const RESET_METHOD = { FUNCTION: 1, BUS: 2 } as const

const size = u32(0, 'Bytes of the structure')

export const Info = struct(
  'gpunvme_info',
  { bytes: 128, doc: 'What the controller is and how it stands', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_info' },
  {
    SIZE: size,
    ABI_VERSION: u32(8, 'Version of the interface'),
    EVENTS: u32(12, 'What has happened since it was opened', {
      REVOKED: bit(0, 'The memory of a dma-buf has gone'),
      RESET: bit(1, 'reset externally'),
      SUSPEND: bit(2, 'The machine slept'),
      ERROR: bit(3, 'PCIe error recovery took place'),
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
    BAR0_LENGTH: n64(32, 'Bytes of BAR0'),
    BAR0_MAPPABLE_LENGTH: n64(40, 'Bytes of BAR0 that can be mapped, from its beginning'),
    MSIX_TABLE_OFFSET: n64(48, 'Where the MSI-X Table begins in its BAR'),
    MSIX_TABLE_BAR: u32(56, 'The BAR that has the MSI-X Table'),
    IRQ_VECTORS: u32(60, 'MSI-X vectors'),
    IOMMU_MODE: u32(64, 'What stands between the controller and memory'),
    DMA_ADDRESS_BITS: u32(68, 'Bits of an address'),
    MAX_SEGMENT_LENGTH: n64(72, 'Bytes of the longest segment'),
    PAGE_SIZE: u32(80, 'Bytes of a page'),
    NUMA_NODE: u32(84, 'NUMA node, or all ones'),
    LINK_SPEED: u32(88, 'Current link speed'),
    LINK_WIDTH: u32(92, 'Lanes in use'),
    MAX_LINK_SPEED: u32(96, 'Highest link speed'),
    MAX_LINK_WIDTH: u32(100, 'Lanes that there are'),
    MAX_PAYLOAD_SIZE: u32(104, 'Bytes of the longest payload'),
    MAX_READ_REQUEST_SIZE: u32(108, 'Bytes of the longest read request'),
    POWER_STATE: u32(112, 'Power state, D0 to D3'),
    BUS_MASTER: u32(116, 'Whether it may access memory'),
    RESET_METHODS: u32(120, 'What it can be reset by', {
      FUNCTION: bit(0, 'The function alone'),
      BUS: bit(1, 'The bus that leads to it'),
    }),
  },
)

export const AllocCoherent = struct(
  'gpunvme_alloc_coherent',
  { bytes: 40, doc: "The kernel's memory in one piece", spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_alloc_coherent' },
  {
    SIZE: size,
    LENGTH: n64(8, 'Bytes'),
    IOVA: n64(16, 'Address of the device'),
    MMAP_OFFSET: n64(24, 'Where it is in the node, for mmap'),
    HANDLE: u32(32, 'What it is given back by'),
  },
)

export const Segment = struct(
  'gpunvme_segment',
  { bytes: 24, doc: 'One piece of memory', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_segment' },
  {
    OFFSET: n64(0, 'From the beginning of the memory'),
    IOVA: n64(8, 'Address of the device'),
    LENGTH: n64(16, 'Bytes'),
  },
)

/** What the controller does with memory: GPUNVME_DEVICE_READS and GPUNVME_DEVICE_WRITES. */
const accesses = { READS: bit(0, 'The device reads'), WRITES: bit(1, 'The device writes') }

export const PinUser = struct(
  'gpunvme_pin_user',
  { bytes: 48, doc: "A process's own memory", spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_pin_user' },
  {
    SIZE: size,
    FLAGS: u32(4, 'Flags', accesses),
    ADDRESS: u64(8, 'Address in this process'),
    LENGTH: n64(16, 'Bytes'),
    SEGMENTS: u64(24, 'Address of the array of segments'),
    SEGMENT_CAPACITY: u32(32, 'Segments that the array holds'),
    SEGMENT_COUNT: u32(36, 'Segments that there are'),
    HANDLE: u32(40, 'What it is given back by'),
  },
)

export const ImportDmaBuf = struct(
  'gpunvme_import_dmabuf',
  { bytes: 40, doc: "Another device's memory", spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_import_dmabuf' },
  {
    SIZE: size,
    FLAGS: u32(4, 'Flags', { ...accesses, DYNAMIC: bit(2, 'Its exporter may take it back') }),
    FD: u32(8, 'File descriptor of the dma-buf'),
    SEGMENT_CAPACITY: u32(12, 'Segments that the array holds'),
    SEGMENTS: u64(16, 'Address of the array of segments'),
    LENGTH: n64(24, 'Bytes of the dma-buf'),
    SEGMENT_COUNT: u32(32, 'Segments that there are'),
    HANDLE: u32(36, 'What it is given back by'),
  },
)

export const Memory = struct(
  'gpunvme_memory',
  { bytes: 32, doc: 'What a handle is of', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_memory' },
  {
    SIZE: size,
    HANDLE: u32(8, 'Which'),
    KIND: u32(12, 'Kind of memory'),
    LENGTH: n64(16, 'Bytes'),
    SEGMENT_COUNT: u32(24, 'Segments'),
    REVOKED: u32(28, 'Whether the memory behind it has gone'),
  },
)

export const Release = struct(
  'gpunvme_release',
  { bytes: 16, doc: 'Memory to give back', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_release' },
  { SIZE: size, HANDLE: u32(8, 'Which') },
)

export const SetBusMaster = struct(
  'gpunvme_set_bus_master',
  {
    bytes: 16,
    doc: 'Whether the controller may access memory',
    spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_set_bus_master',
  },
  { SIZE: size, ENABLE: u32(8, '1 or 0') },
)

export const Reset = struct(
  'gpunvme_reset',
  { bytes: 16, doc: 'A reset', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_reset' },
  { SIZE: size, METHOD: u32(8, 'Which') },
)

export const SetIrq = struct(
  'gpunvme_set_irq',
  { bytes: 16, doc: 'What an MSI-X vector signals', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_set_irq' },
  { SIZE: size, VECTOR: u32(8, 'Which'), FD: u32(12, 'File descriptor of an eventfd, or all ones') },
)

export const SetNotify = struct(
  'gpunvme_set_notify',
  { bytes: 16, doc: 'What events and removal signal', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_set_notify' },
  { SIZE: size, FD: u32(8, 'File descriptor of an eventfd, or all ones') },
)

export const ReadConfig = struct(
  'gpunvme_read_config',
  { bytes: 24, doc: 'A register of configuration space', spec: 'gpunvme ABI 1 gpunvme_ioctl.h gpunvme_read_config' },
  { SIZE: size, OFFSET: u32(8, 'Where'), WIDTH: u32(12, 'Bytes: 1, 2 or 4'), VALUE: u32(16, 'What it reads') },
)

/** A file descriptor that says that there is none, or takes one away: -1. */
export const NO_FD = 0xffff_ffff
