import { bit, bits, struct, u16, u32 } from '../layout/index.js'

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
