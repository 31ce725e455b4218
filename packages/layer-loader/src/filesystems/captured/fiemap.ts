import { n64, inHex, struct, u32 } from '@gpunvme/nvme-spec/layout'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { DEFAULT_FILE_SYSTEM_LIMITS } from '../limits.js'
import type { DeviceExtent } from '../file-system.js'
import { CaptureError } from './capture-error.js'

const FIEMAP = struct(
  'FIEMAP',
  { bytes: 32, doc: 'Request and reply of FIEMAP', spec: 'Linux 6.1 include/uapi/linux/fiemap.h' },
  {
    FM_START: n64(0, 'Byte of the file to start at'),
    FM_LENGTH: n64(8, 'Length of the range'),
    FM_FLAGS: inHex(u32(16, 'FIEMAP_FLAG_SYNC is 1')),
    FM_MAPPED_EXTENTS: u32(20, 'Extents in the reply'),
    FM_EXTENT_COUNT: u32(24, 'Room for extents in the reply'),
  },
)
const FIEMAP_EXTENT = struct(
  'FIEMAP_EXTENT',
  { bytes: 56, doc: 'One extent of a file', spec: 'Linux 6.1 include/uapi/linux/fiemap.h' },
  {
    FE_LOGICAL: n64(0, 'Byte of the file'),
    FE_PHYSICAL: n64(8, 'Byte of the block device'),
    FE_LENGTH: n64(16, 'Bytes'),
    FE_FLAGS: inHex(u32(40, 'FIEMAP_EXTENT_ flags')),
  },
)

/** FS_IOC_FIEMAP: _IOWR('f', 11, struct fiemap). */
const FS_IOC_FIEMAP = 0xc020660b

/** Write dirty pages before answering. */
const FIEMAP_FLAG_SYNC = 1

/** Flags of extents whose bytes are not directly on the device, in the order of the message that is chosen. */
const REFUSED: readonly (readonly [flag: number, name: string, why: string])[] = [
  [0x2, 'UNKNOWN', 'location unknown'],
  [0x4, 'DELALLOC', 'it is not allocated yet'],
  [0x80, 'DATA_ENCRYPTED', 'it is encrypted'],
  [0x8, 'ENCODED', 'it is compressed or otherwise encoded'],
  [0x200, 'DATA_INLINE', 'it is stored in metadata'],
  [0x400, 'DATA_TAIL', 'it shares a block with other files'],
  [0x100, 'NOT_ALIGNED', 'it does not start at a block'],
  [0x800, 'UNWRITTEN', 'it is allocated but unwritten'],
  [0x2000, 'SHARED', 'it is shared with another file'],
]

/** Extents per call. */
const EXTENTS_A_CALL = 512

/**
 * Returns the location of an open file, counted from the start of the block device that is mounted.
 * @throws CaptureError for a file with holes, with extents that are not directly on the device, or in too many pieces,
 * and if the file system does not support FIEMAP.
 */
export function readFiemap(
  host: Pick<HardwareHost, 'ioctl'>,
  fd: number,
  path: string,
  sizeBytes: number,
): readonly DeviceExtent[] {
  const found: DeviceExtent[] = []
  let endBytes = 0
  while (endBytes < sizeBytes) {
    const startBytes = endBytes
    for (const extent of ask(host, fd, path, startBytes, sizeBytes - startBytes)) {
      if (extent.fileOffsetBytes > endBytes) break
      const skippedBytes = endBytes - extent.fileOffsetBytes
      const lengthBytes = Math.min(extent.lengthBytes - skippedBytes, sizeBytes - endBytes)
      if (lengthBytes <= 0) continue
      append(found, endBytes, extent.deviceOffsetBytes + skippedBytes, lengthBytes)
      endBytes += lengthBytes
    }
    // Each call must make progress, so that the loop ends.
    if (endBytes === startBytes) throw new CaptureError('HOLE', path, `it has a hole at byte ${endBytes}`)
    const max = DEFAULT_FILE_SYSTEM_LIMITS.maxExtents
    if (found.length > max) throw new CaptureError('PIECES', path, `it is in more than ${max} pieces`)
  }
  return found
}

function append(found: DeviceExtent[], fileOffsetBytes: number, deviceOffsetBytes: number, lengthBytes: number): void {
  const last = found.at(-1)
  if (last !== undefined && last.deviceOffsetBytes + last.lengthBytes === deviceOffsetBytes) {
    found[found.length - 1] = { ...last, lengthBytes: last.lengthBytes + lengthBytes }
  } else found.push({ fileOffsetBytes, deviceOffsetBytes, lengthBytes })
}

/** One call: the extents of the file from `startBytes`. The first one may begin earlier. */
function ask(
  host: Pick<HardwareHost, 'ioctl'>,
  fd: number,
  path: string,
  startBytes: number,
  lengthBytes: number,
): readonly DeviceExtent[] {
  const argument = new Uint8Array(FIEMAP.bytes + EXTENTS_A_CALL * FIEMAP_EXTENT.bytes)
  const data = new DataView(argument.buffer)
  FIEMAP.encode(data, 0, {
    FM_START: startBytes,
    FM_LENGTH: lengthBytes,
    FM_FLAGS: FIEMAP_FLAG_SYNC,
    FM_EXTENT_COUNT: EXTENTS_A_CALL,
  })
  try {
    host.ioctl(fd, FS_IOC_FIEMAP, argument)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new CaptureError('ANSWER', path, `its file system does not support FIEMAP (${code ?? String(cause)})`, {
      cause,
    })
  }
  const mapped = FIEMAP.view(data).FM_MAPPED_EXTENTS
  if (mapped > EXTENTS_A_CALL) throw new CaptureError('ANSWER', path, `FIEMAP returned ${mapped} extents`)
  const view = FIEMAP_EXTENT.view(data, FIEMAP.bytes)
  return Array.from({ length: mapped }, (_, index) => {
    const run = view.at(index)
    const { FE_LOGICAL: fileOffsetBytes, FE_PHYSICAL: deviceOffsetBytes, FE_LENGTH: length, FE_FLAGS: flags } = run
    const refused = REFUSED.find(([flag]) => flags & flag)
    if (refused !== undefined) {
      const facts = [`FIEMAP_EXTENT_${refused[1]}`, `flags 0x${flags.toString(16)}`, `${length} bytes`]
      throw new CaptureError('NOT_IN_PLACE', path, `from byte ${fileOffsetBytes}, ${refused[2]}`, { facts })
    }
    if (!Number.isSafeInteger(fileOffsetBytes + length) || !Number.isSafeInteger(deviceOffsetBytes + length)) {
      throw new CaptureError('ANSWER', path, `FIEMAP returned ${length} bytes from ${deviceOffsetBytes}`)
    }
    return { fileOffsetBytes, deviceOffsetBytes, lengthBytes: length }
  })
}
