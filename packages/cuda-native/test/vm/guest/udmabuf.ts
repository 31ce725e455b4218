// Stand-in for GPU memory: a memfd of huge pages, as descriptor 3, which /dev/udmabuf exports as dma-bufs.
import { closeSync, openSync } from 'node:fs'
import type { DmaBufExporter, GpuAccess, GpuMemorySource } from '@gpunvme/cuda-native/vram'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { host } from './lib.js'

const MEMFD = 3
const PAGE_BYTES = 2 ** 21
/** UDMABUF_CREATE of linux/udmabuf.h, _IOW('u', 0x42, struct udmabuf_create), and UDMABUF_FLAGS_CLOEXEC. */
const UDMABUF_CREATE = 0x4018_7542
const CLOEXEC = 1
/** GPU address of the memory. Not an address of this process, so that mistaking one for the other is detected. */
const BASE = 0x7f12_0000_0000n

/** The parts of a GPU that tiers require, over `lengthBytes` bytes that the CPU can access too. */
export class UdmabufGpu implements DmaBufExporter, GpuAccess, GpuMemorySource {
  /** The CPU's view of the memory. */
  readonly bytes: Buffer
  private readonly device = openSync('/dev/udmabuf', 'r+')
  private readonly free: number[]

  constructor(lengthBytes: number) {
    this.bytes = Buffer.from(host.map(MEMFD, 0, lengthBytes, 'read-write').buffer)
    this.free = Array.from({ length: lengthBytes / PAGE_BYTES }, (_, page) => page)
  }

  /** Allocates contiguous pages, first fit. */
  alloc(lengthBytes: number) {
    const pages = lengthBytes / PAGE_BYTES
    const at = this.free.findIndex((page, index) => this.free[index + pages - 1] === page + pages - 1)
    if (at === -1) throw new RangeError('this GPU has no memory left')
    const taken = this.free.splice(at, pages)
    return {
      lengthBytes,
      gpuPointer: BASE + BigInt(taken[0]! * PAGE_BYTES),
      free: () => {
        this.free.push(...taken)
        this.free.sort((one, other) => one - other)
      },
    }
  }

  get unusedBytes(): number {
    return this.free.length * PAGE_BYTES
  }

  export(gpuPointer: bigint, lengthBytes: number): number {
    const argument = new DataView(new ArrayBuffer(24))
    argument.setUint32(0, MEMFD, true)
    argument.setUint32(4, CLOEXEC, true)
    argument.setBigUint64(8, gpuPointer - BASE, true)
    argument.setBigUint64(16, BigInt(lengthBytes), true)
    return host.adopt(host.ioctl(this.device, UDMABUF_CREATE, new Uint8Array(argument.buffer)))
  }

  close(fd: number): void {
    closeSync(fd)
  }

  at(gpuPointer: bigint, lengthBytes: number): Buffer {
    const offset = Number(gpuPointer - BASE)
    return this.bytes.subarray(offset, offset + lengthBytes)
  }

  fill(gpuPointer: bigint, lengthBytes: number, byte: number): void {
    this.at(gpuPointer, lengthBytes).fill(byte)
  }

  copyOut(gpuPointer: bigint, into: Uint8Array): void {
    into.set(this.at(gpuPointer, into.length))
  }

  write(gpuPointer: bigint, bytes: Uint8Array): void {
    this.at(gpuPointer, bytes.length).set(bytes)
  }

  read(gpuPointer: bigint, lengthBytes: number): Uint8Array {
    return Uint8Array.from(this.at(gpuPointer, lengthBytes))
  }

  /** Returns the same memory with a view, for CPU engines that access queues in it. */
  seen(memory: DmaMemory): DmaMemory {
    const { buffer, byteOffset } = this.at(memory.gpuPointer!, memory.lengthBytes)
    return {
      lengthBytes: memory.lengthBytes,
      segments: memory.segments,
      view: new DataView(buffer, byteOffset, memory.lengthBytes),
      iovaAt: (offsetBytes) => memory.iovaAt(offsetBytes),
      forDevice: (offsetBytes, lengthBytes) => memory.forDevice(offsetBytes, lengthBytes),
      forHost: (offsetBytes, lengthBytes) => memory.forHost(offsetBytes, lengthBytes),
      free: () => memory.free(),
    }
  }
}
