import { constants, type BigIntStats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import type { DeviceExtent, FileOnDisk } from '../file-system.js'
import { CaptureError } from './capture-error.js'
import { readFiemap } from './fiemap.js'
import { mountedDevice, type CapturedDevice } from './mounted-device.js'

/** Of the file's beginning and of its end, so much is under a checksum; all of a file that is shorter. */
export const EDGE_BYTES = 64 * 1024

/** Where Linux has a file, and what it was then: made while it is mounted, for when the kernel's driver is gone. */
export interface CapturedFile extends FileOnDisk {
  readonly device: CapturedDevice
  /** Where the file system begins on the device; it is contained in `deviceOffsetBytes` already. */
  readonly partitionStartBytes: number
  /** When the file was last written to: nanoseconds since 1970. */
  readonly mtimeNs: bigint
  /** CRC-32 of the first and the last `EDGE_BYTES`, by which a drive that was written to since is told. */
  readonly firstCrc32: number
  readonly lastCrc32: number
}

export interface CaptureOptions {
  /** What can issue an ioctl: `loadHardwareHost()` of `@gpunvme/cuda-native/host`. */
  readonly host: Pick<HardwareHost, 'ioctl'>
  /** Where /sys and /proc are; / when not given. */
  readonly sysRoot?: string
}

/**
 * Asks Linux where the bytes of a file are on the drive itself, for reading them when the drive has been taken from it.
 * Everything of the file is written to the drive first. The answer holds for as long as nobody changes the file and the
 * file system is not defragmented; `openCapturedFile` notices some of it, so capture directly before unmounting.
 *
 * @throws CaptureError for a file whose bytes are not simply on one drive, and for one that changes meanwhile; errors of
 *   `fs` where the file cannot be opened or read.
 */
export async function captureFileExtents(path: string, { host, sysRoot = '/' }: CaptureOptions): Promise<CapturedFile> {
  // Without O_NONBLOCK, opening a FIFO that nobody writes to would never return.
  await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const before = await handle.stat({ bigint: true })
  if (!before.isFile()) throw new CaptureError('NOT_A_FILE', path, 'it is no regular file')
  const sizeBytes = Number(before.size)
  const { device, partitionStartBytes, partitionBytes } = await mountedDevice(sysRoot, path, before.dev)
  const runs = readFiemap(host, handle.fd, path, sizeBytes)
  const firstCrc32 = await crcOf(handle, path, 0, Math.min(EDGE_BYTES, sizeBytes))
  const lastCrc32 = await crcOf(handle, path, Math.max(0, sizeBytes - EDGE_BYTES), sizeBytes)
  const again = readFiemap(host, handle.fd, path, sizeBytes)
  const after = await handle.stat({ bigint: true })
  if (hasChanged(before, after)) throw new CaptureError('CHANGED', path, 'it was written to meanwhile')
  if (!isSame(runs, again)) throw new CaptureError('CHANGED', path, 'its file system has moved it meanwhile')
  const extents = runs.map((run) => {
    if (run.deviceOffsetBytes + run.lengthBytes > partitionBytes) {
      const facts = [`${run.lengthBytes} bytes from byte ${run.deviceOffsetBytes} of ${partitionBytes}`]
      throw new CaptureError('ANSWER', path, 'FIEMAP answers with a run past the end of its partition', { facts })
    }
    return { ...run, deviceOffsetBytes: partitionStartBytes + run.deviceOffsetBytes }
  })
  return { path, sizeBytes, extents, device, partitionStartBytes, mtimeNs: before.mtimeNs, firstCrc32, lastCrc32 }
}

async function crcOf(handle: FileHandle, path: string, fromBytes: number, toBytes: number): Promise<number> {
  const bytes = new Uint8Array(toBytes - fromBytes)
  for (let done = 0; done < bytes.byteLength;) {
    const { bytesRead } = await handle.read(bytes, done, bytes.byteLength - done, fromBytes + done)
    if (bytesRead === 0) throw new CaptureError('CHANGED', path, `it now ends at byte ${fromBytes + done}`)
    done += bytesRead
  }
  return crc32(bytes)
}

function hasChanged(before: BigIntStats, after: BigIntStats): boolean {
  return before.size !== after.size || before.mtimeNs !== after.mtimeNs || before.ctimeNs !== after.ctimeNs
}

function isSame(runs: readonly DeviceExtent[], others: readonly DeviceExtent[]): boolean {
  return (
    runs.length === others.length &&
    runs.every((run, index) => {
      const other = others[index]!
      return run.deviceOffsetBytes === other.deviceOffsetBytes && run.lengthBytes === other.lengthBytes
    })
  )
}
