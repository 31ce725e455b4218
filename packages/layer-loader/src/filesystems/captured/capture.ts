import { constants, type BigIntStats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { crc32 } from 'node:zlib'
import type { HardwareHost } from '@gpunvme/nvme-spec/transport'
import type { DeviceExtent, FileOnDisk } from '../file-system.js'
import { CaptureError } from './capture-error.js'
import { readFiemap } from './fiemap.js'
import { mountedDevice, type CapturedDevice } from './mounted-device.js'

/** Bytes at the beginning and at the end of the file that are checksummed; the whole file if it is shorter. */
export const EDGE_BYTES = 64 * 1024

/**
 * Location of a file according to Linux, with its state at that time. Captured while the file system is mounted, and
 * used after the kernel's driver has been unbound.
 */
export interface CapturedFile extends FileOnDisk {
  readonly device: CapturedDevice
  /** Offset of the file system on the device. `deviceOffsetBytes` already includes it. */
  readonly partitionStartBytes: number
  /** Time of the last write, in nanoseconds since 1970. */
  readonly mtimeNs: bigint
  /** CRC-32 of the first and the last `EDGE_BYTES`, to detect later changes. */
  readonly firstCrc32: number
  readonly lastCrc32: number
}

/** Options of `captureFile`. */
export interface CaptureOptions {
  /** Issues ioctls: `loadHardwareHost()` of `@gpunvme/cuda-native/host`. */
  readonly host: Pick<HardwareHost, 'ioctl'>
  /** Directory that contains /sys and /proc. Default: /. */
  readonly sysRoot?: string
}

/**
 * Asks Linux where the bytes of a file are on the drive, to read them after the drive has been unbound from the kernel.
 * Dirty pages of the file are written first. The answer is valid until the file changes or the file system is
 * defragmented; `openCapturedFile` detects only some changes, so capture directly before unmounting.
 *
 * @throws CaptureError for a file whose bytes are not directly on one drive, and for one that changes during the call;
 * errors of `fs` if the file cannot be opened or read.
 */
export async function captureFileExtents(path: string, { host, sysRoot = '/' }: CaptureOptions): Promise<CapturedFile> {
  // Without O_NONBLOCK, opening a FIFO without a writer would never return.
  await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const before = await handle.stat({ bigint: true })
  if (!before.isFile()) throw new CaptureError('NOT_A_FILE', path, 'it is not a regular file')
  const sizeBytes = Number(before.size)
  const { device, partitionStartBytes, partitionBytes } = await mountedDevice(sysRoot, path, before.dev)
  const runs = readFiemap(host, handle.fd, path, sizeBytes)
  const firstCrc32 = await crcOf(handle, path, 0, Math.min(EDGE_BYTES, sizeBytes))
  const lastCrc32 = await crcOf(handle, path, Math.max(0, sizeBytes - EDGE_BYTES), sizeBytes)
  const again = readFiemap(host, handle.fd, path, sizeBytes)
  const after = await handle.stat({ bigint: true })
  if (hasChanged(before, after)) throw new CaptureError('CHANGED', path, 'it was written during the capture')
  if (!isSame(runs, again)) throw new CaptureError('CHANGED', path, 'the file system moved it during the capture')
  const extents = runs.map((run) => {
    if (run.deviceOffsetBytes + run.lengthBytes > partitionBytes) {
      const facts = [`${run.lengthBytes} bytes from byte ${run.deviceOffsetBytes} of ${partitionBytes}`]
      throw new CaptureError('ANSWER', path, 'FIEMAP returned an extent past the end of the partition', { facts })
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
