import { randomUUID } from 'node:crypto'
import { closeSync, constants, existsSync, openSync, unlinkSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NativeRegion, VfioUserHost } from '@gpunvme/nvme-spec/transport'
import { VfioUserDmaMap, VfioUserDmaUnmap } from '@gpunvme/nvme-spec/vfio-user'
import { DriverError } from '../../error.js'
import { AddressSpace } from '../address-space.js'
import type { DmaChunk, DmaSource } from '../dma-arena.js'
import type { Channel } from './channel.js'

/** Unit of chunks and of addresses: large enough to make messages rare, small enough to waste little. */
export const GRANULE_BYTES = 2_097_152

/** Maximum number of bytes by which a chunk exceeds the request. */
const LARGEST_GROWTH_BYTES = 64 * 1024 * 1024

/** Lowest device address, so that an address of 0, which a program forgot to set, accesses nothing. */
const LOWEST_IOVA = 0x10_0000

/** Highest address, within what targets translate: the narrowest IOMMUs that they replace have 39 bits. */
const HIGHEST_IOVA = 2 ** 39

/** Returns the default directory: /dev/shm, whose files are memory, or else that for temporary files. */
export function usualMemoryFolder(): string {
  return existsSync('/dev/shm') ? '/dev/shm' : tmpdir()
}

/**
 * Memory that a target maps: unnamed files whose descriptors it receives. It can access these and nothing else of this
 * process. Pages that it keeps mapped stay those of the file, and are not reused.
 */
export class SharedMemory implements DmaSource {
  readonly granuleBytes = GRANULE_BYTES
  private readonly channel: Channel
  private readonly host: VfioUserHost
  private readonly folder: string
  private sharedBytes = 0
  private readonly space = new AddressSpace([{ start: LOWEST_IOVA, lengthBytes: HIGHEST_IOVA - LOWEST_IOVA }])

  constructor(channel: Channel, host: VfioUserHost, folder: string) {
    this.channel = channel
    this.host = host
    this.folder = folder
  }

  /**
   * Returns a chunk as large as all memory shared so far, if less is requested: targets accept few regions, SPDK's 16.
   * @throws DriverError (VFIO_USER_MEMORY) if the directory has no room; as `Channel.ask`.
   */
  chunk(askedBytes: number, alignBytes: number): DmaChunk {
    const lengthBytes = Math.max(askedBytes, Math.min(this.sharedBytes, LARGEST_GROWTH_BYTES))
    const iova = this.space.takeAligned(lengthBytes, Math.max(alignBytes, GRANULE_BYTES))
    if (iova === undefined)
      throw new RangeError(`lengthBytes: no free device addresses below 2^39 for ${lengthBytes} bytes`)
    try {
      const region = this.share(iova, lengthBytes)
      this.sharedBytes += lengthBytes
      const release = () => {
        this.release(iova, region)
      }
      return { buffer: region.buffer, lengthBytes, segments: [{ offsetBytes: 0, iova, lengthBytes }], release }
    } catch (error) {
      this.space.give(iova)
      throw error
    }
  }

  /** Maps the file on both sides; its descriptor is then no longer needed here. */
  private share(iova: number, lengthBytes: number): NativeRegion {
    const fd = zeroedFile(this.folder, lengthBytes)
    try {
      // The target may truncate the file, which must not end this process.
      const region = this.host.mapForeign(fd, 0, lengthBytes, 'read-write')
      try {
        this.announce(iova, lengthBytes, fd)
      } catch (error) {
        region.unmap()
        throw error
      }
      return region
    } finally {
      closeSync(fd)
    }
  }

  private announce(iova: number, lengthBytes: number, fd: number): void {
    const { data } = VfioUserDmaMap.create({
      ARGSZ: VfioUserDmaMap.bytes,
      FLAGS: { READ: 1, WRITE: 1 },
      OFFSET: 0n,
      ADDRESS: BigInt(iova),
      SIZE: BigInt(lengthBytes),
    })
    this.channel.ask('DMA_MAP', data, 0, Int32Array.of(fd))
  }

  /**
   * Releases memory at the target first, then here. If the target does not confirm, the address is not reused; the
   * pages never are.
   */
  private release(iova: number, region: NativeRegion): void {
    this.sharedBytes -= region.lengthBytes
    try {
      if (this.channel.departure === undefined) this.takeBack(iova, region.lengthBytes)
    } catch (error) {
      if (error !== this.channel.departure) throw error
    } finally {
      region.unmap()
    }
  }

  private takeBack(iova: number, lengthBytes: number): void {
    const { bytes } = VfioUserDmaUnmap
    const { data } = VfioUserDmaUnmap.create({ ARGSZ: bytes, ADDRESS: BigInt(iova), SIZE: BigInt(lengthBytes) })
    const answer = this.channel.ask('DMA_UNMAP', data, bytes)
    const { ADDRESS, SIZE } = VfioUserDmaUnmap.view(answer.data)
    if (ADDRESS !== BigInt(iova) || SIZE !== BigInt(lengthBytes))
      this.channel.breach('DMA_UNMAP', `expected 0x${iova.toString(16)}, got the answer to 0x${ADDRESS.toString(16)}`)
    this.space.give(iova)
  }
}

const ZEROES = Buffer.alloc(1_048_576)

/**
 * Creates an unnamed file with all of its pages: otherwise a store on a full file system would end the process.
 * @throws DriverError (VFIO_USER_MEMORY)
 */
function zeroedFile(folder: string, lengthBytes: number): number {
  const path = join(folder, `gpunvme-${randomUUID()}`)
  let fd: number | undefined
  try {
    fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, 0o600)
    unlinkSync(path)
    for (let at = 0; at < lengthBytes;) at += writeSync(fd, ZEROES, 0, Math.min(ZEROES.length, lengthBytes - at), at)
    return fd
  } catch (error) {
    if (fd !== undefined) closeSync(fd)
    const { code } = error as NodeJS.ErrnoException
    if (code === undefined) throw error
    const headline = `Cannot create a file of ${lengthBytes} bytes in ${folder}: ${code}`
    throw new DriverError('ERR_GPUNVME_VFIO_USER_MEMORY', 'infeasible', headline, {
      next: 'free space there (for tmpfs: mount -o remount,size=…), or choose another directory: memoryFolder',
      cause: error,
    })
  }
}
