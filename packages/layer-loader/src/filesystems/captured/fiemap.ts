import { n64, inHex, struct, u32 } from '@gpunvme/nvme-spec/layout'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import { DEFAULT_FILE_SYSTEM_LIMITS } from '../limits.js'
import type { DeviceExtent } from '../file-system.js'
import { CaptureError } from './capture-error.js'

const FIEMAP = struct(
  'FIEMAP',
  { bytes: 32, doc: 'What is asked, and what is answered', spec: 'Linux 6.1 include/uapi/linux/fiemap.h' },
  {
    FM_START: n64(0, 'Byte of the file to start at'),
    FM_LENGTH: n64(8, 'Bytes that are asked about'),
    FM_FLAGS: inHex(u32(16, 'FIEMAP_FLAG_SYNC is 1')),
    FM_MAPPED_EXTENTS: u32(20, 'How many there are in the answer'),
    FM_EXTENT_COUNT: u32(24, 'How many there is room for'),
  },
)
const FIEMAP_EXTENT = struct(
  'FIEMAP_EXTENT',
  { bytes: 56, doc: 'One run of a file', spec: 'Linux 6.1 include/uapi/linux/fiemap.h' },
  {
    FE_LOGICAL: n64(0, 'Byte of the file'),
    FE_PHYSICAL: n64(8, 'Byte of the block device'),
    FE_LENGTH: n64(16, 'Bytes'),
    FE_FLAGS: inHex(u32(40, 'FIEMAP_EXTENT_ flags')),
  },
)

/** FS_IOC_FIEMAP: _IOWR('f', 11, struct fiemap). */
const FS_IOC_FIEMAP = 0xc020660b

/** Write what is in memory only, then answer. */
const FIEMAP_FLAG_SYNC = 1

/** Flags of a run whose bytes are not simply on the device, in the order in which they are named. */
const REFUSED: readonly (readonly [flag: number, name: string, why: string])[] = [
  [0x2, 'UNKNOWN', 'location unknown'],
  [0x4, 'DELALLOC', 'it has no place on the device yet'],
  [0x80, 'DATA_ENCRYPTED', 'it is encrypted'],
  [0x8, 'ENCODED', 'it is compressed or encoded otherwise'],
  [0x200, 'DATA_INLINE', 'it is among metadata'],
  [0x400, 'DATA_TAIL', 'it shares a block with other files'],
  [0x100, 'NOT_ALIGNED', 'it does not begin with a block'],
  [0x800, 'UNWRITTEN', 'it is reserved, and was never written'],
  [0x2000, 'SHARED', 'another file has it too, and writing to either moves it'],
]

/** Runs that one call answers with. */
const EXTENTS_A_CALL = 512

/**
 * Where Linux has the bytes of an open file, counted from the start of the block device that it is mounted from.
 * @throws CaptureError for a file with holes, with runs that are not simply on the device, or in too many pieces, and
 *   where the file system does not answer.
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
    // Every call goes on, so that there is a last one.
    if (endBytes === startBytes) throw new CaptureError('HOLE', path, `it has a hole at byte ${endBytes}`)
    const most = DEFAULT_FILE_SYSTEM_LIMITS.maxExtents
    if (found.length > most) throw new CaptureError('PIECES', path, `it is in more than ${most} pieces`)
  }
  return found
}

function append(found: DeviceExtent[], fileOffsetBytes: number, deviceOffsetBytes: number, lengthBytes: number): void {
  const last = found.at(-1)
  if (last !== undefined && last.deviceOffsetBytes + last.lengthBytes === deviceOffsetBytes) {
    found[found.length - 1] = { ...last, lengthBytes: last.lengthBytes + lengthBytes }
  } else found.push({ fileOffsetBytes, deviceOffsetBytes, lengthBytes })
}

/** One call: the runs of the file from `startBytes` on, the first of which may begin before. */
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
    throw new CaptureError('ANSWER', path, `its file system does not answer FIEMAP (${code ?? String(cause)})`, {
      cause,
    })
  }
  const mapped = FIEMAP.view(data).FM_MAPPED_EXTENTS
  if (mapped > EXTENTS_A_CALL) throw new CaptureError('ANSWER', path, `FIEMAP answers with ${mapped} runs`)
  const view = FIEMAP_EXTENT.view(data, FIEMAP.bytes)
  return Array.from({ length: mapped }, (_, index) => {
    const run = view.at(index)
    const { FE_LOGICAL: fileOffsetBytes, FE_PHYSICAL: deviceOffsetBytes, FE_LENGTH: length, FE_FLAGS: flags } = run
    const refused = REFUSED.find(([flag]) => flags & flag)
    if (refused !== undefined) {
      const facts = [`FIEMAP_EXTENT_${refused[1]}`, `flags 0x${flags.toString(16)}`, `${length} bytes`]
      throw new CaptureError('NOT_IN_PLACE', path, `from byte ${fileOffsetBytes} on ${refused[2]}`, { facts })
    }
    if (!Number.isSafeInteger(fileOffsetBytes + length) || !Number.isSafeInteger(deviceOffsetBytes + length)) {
      throw new CaptureError('ANSWER', path, `FIEMAP answers with ${length} bytes from ${deviceOffsetBytes}`)
    }
    return { fileOffsetBytes, deviceOffsetBytes, lengthBytes: length }
  })
}
