import { bit, struct, u32, u64 } from '../layout/index.js'

/** DMA_MAP. The file that the memory is comes as a descriptor beside the message; without one it cannot be mapped. */
export const VfioUserDmaMap = struct(
  'vfio-user DMA map',
  { bytes: 32, doc: 'Memory for the device', spec: 'vfio-user 0.9.2 VFIO_USER_DMA_MAP' },
  {
    ARGSZ: u32(0, 'Bytes'),
    FLAGS: u32(4, 'Flags', { READ: bit(0, 'The device may read'), WRITE: bit(1, 'The device may write') }),
    OFFSET: u64(8, 'From the start of the file'),
    ADDRESS: u64(16, 'Address of the device'),
    SIZE: u64(24, 'Bytes'),
  },
)

/** DMA_UNMAP; the reply repeats it. Its flags are those of linux/vfio.h: the document leaves them open, QEMU sets ALL. */
export const VfioUserDmaUnmap = struct(
  'vfio-user DMA unmap',
  { bytes: 24, doc: 'Memory that the device is to lose', spec: 'vfio-user 0.9.2 VFIO_USER_DMA_UNMAP' },
  {
    ARGSZ: u32(0, 'Bytes'),
    FLAGS: u32(4, 'Flags', { GET_DIRTY_BITMAP: bit(0, 'With what was written'), ALL: bit(1, 'All memory') }),
    ADDRESS: u64(8, 'Address of the device'),
    SIZE: u64(16, 'Bytes'),
  },
)

/** REGION_READ and REGION_WRITE; data follow a write, and the reply to a read. */
export const VfioUserRegionAccess = struct(
  'vfio-user region access',
  { bytes: 16, doc: 'An access to a region', spec: 'vfio-user 0.9.2 VFIO_USER_REGION_READ' },
  { OFFSET: u64(0, 'From the start of the region'), REGION: u32(8, 'Which region'), COUNT: u32(12, 'Bytes') },
)

/**
 * DMA_READ and DMA_WRITE, by which a device reaches memory that it could not map; data follow a write, and the reply to a
 * read. For the reply to a write the document has a COUNT of 4 bytes; libvfio-user and QEMU send these 16.
 */
export const VfioUserDmaAccess = struct(
  'vfio-user DMA access',
  { bytes: 16, doc: 'An access to memory', spec: 'vfio-user 0.9.2 VFIO_USER_DMA_READ' },
  { ADDRESS: u64(0, 'Address of the device'), COUNT: u64(8, 'Bytes') },
)
