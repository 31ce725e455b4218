import { bit, struct, u32, u64 } from '../layout/index.js'

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
