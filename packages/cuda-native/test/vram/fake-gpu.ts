import type { DeviceMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { GpuBarRuns, GpuMemorySource, SyncGpuAccess, WindowView } from '../../src/vram/index.js'

const PAGE = 2 * 1024 * 1024

/** Memory that a controller reaches at addresses: what stands behind the BAR of a GPU. QEMU's `vram` is one. */
export interface BackingMemory {
  /** The controller's address of its first byte. */
  readonly iova: number
  readonly lengthBytes: number
  read(offsetBytes: number, lengthBytes: number): Uint8Array
  write(offsetBytes: number, bytes: Uint8Array): void
}

/** A BAR of 16 MiB that reads as zeros and drops writes, for tests of addresses. */
export const BLANK_BAR: BackingMemory = {
  iova: 0x80_0000_0000,
  lengthBytes: 8 * PAGE,
  read: (_, lengthBytes) => new Uint8Array(lengthBytes),
  write: () => undefined,
}

/** As `mapPeer` of a transport with bus addresses, for a BAR at `iova`. */
export const peerAt =
  (iova: number) =>
  ({ runs }: GpuBarRuns): DmaMemory => {
    let offsetBytes = 0
    const segments = runs.map((run) => {
      const segment = { offsetBytes, iova: iova + run.offsetBytes, lengthBytes: run.lengthBytes }
      offsetBytes += run.lengthBytes
      return segment
    })
    const unused = () => {
      throw new Error('only the segments are used')
    }
    return {
      ...{ segments, lengthBytes: offsetBytes, free: () => undefined },
      ...{ iovaAt: unused, forDevice: unused, forHost: unused },
    }
  }

/** Host memory of a simulator in a BAR's place: it has no other memory that a controller could reach. */
export function backingOf(memory: DmaMemory): BackingMemory {
  const bytes = new Uint8Array(memory.view!.buffer, memory.view!.byteOffset, memory.lengthBytes)
  return {
    iova: memory.iovaAt(0),
    lengthBytes: memory.lengthBytes,
    read: (offsetBytes, lengthBytes) => bytes.slice(offsetBytes, offsetBytes + lengthBytes),
    write: (offsetBytes, from) => bytes.set(from, offsetBytes),
  }
}

/**
 * A GPU whose memory lies in a window of `backing`: kernels' addresses are contiguous, its pages of 2 MiB are scattered over
 * the window, some of them next to each other the wrong way round.
 */
export class FakeGpu implements SyncGpuAccess, GpuMemorySource {
  readonly backing: BackingMemory
  readonly windowOffset: number
  /** Physical addresses by pages of kernels' addresses. */
  readonly pages = new Map<bigint, number>()
  readonly freed: bigint[] = []
  /** Added to addresses of kernels that are given out: drivers promise 256 bytes. */
  misalignment = 0n
  private readonly unused: number[]
  private nextPointer = 0x7f12_0000_0000n

  constructor(backing: BackingMemory, windowOffset = 0) {
    this.backing = backing
    this.windowOffset = windowOffset
    const count = Math.floor((backing.lengthBytes - windowOffset) / PAGE)
    // Every page once, by a step that has no divisor in common with how many there are: 7, 4, 1, ...
    const step = count % 3 === 0 ? 1 : 3
    this.unused = Array.from({ length: count }, (_, index) => ((count - 1 - ((index * step) % count)) % count) * PAGE)
  }

  alloc(lengthBytes: number): DeviceMemory {
    const pages = Math.ceil((lengthBytes + Number(this.misalignment)) / PAGE)
    if (pages > this.unused.length) throw new RangeError('this GPU has no memory left')
    const base = this.nextPointer
    this.nextPointer += BigInt(pages + 1) * BigInt(PAGE)
    for (let page = 0; page < pages; page++) this.pages.set(base + BigInt(page * PAGE), this.unused.shift()!)
    const gpuPointer = base + this.misalignment
    return {
      lengthBytes,
      gpuPointer,
      free: () => {
        if (this.freed.includes(gpuPointer)) throw new Error('this GPU memory was freed twice')
        this.freed.push(gpuPointer)
        for (let page = 0; page < pages; page++) {
          this.unused.push(this.pages.get(base + BigInt(page * PAGE))!)
          this.pages.delete(base + BigInt(page * PAGE))
        }
      },
    }
  }

  fill(gpuPointer: bigint, lengthBytes: number, byte: number): void {
    this.write(gpuPointer, new Uint8Array(lengthBytes).fill(byte))
  }

  write(gpuPointer: bigint, bytes: Uint8Array): void {
    for (const { at, place, lengthBytes } of this.parts(gpuPointer, bytes.length))
      this.backing.write(place, bytes.subarray(at, at + lengthBytes))
  }

  read(gpuPointer: bigint, lengthBytes: number): Uint8Array {
    const bytes = new Uint8Array(lengthBytes)
    for (const part of this.parts(gpuPointer, lengthBytes))
      bytes.set(this.backing.read(part.place, part.lengthBytes), part.at)
    return bytes
  }

  /** The CPU's view of the window. */
  get window(): WindowView {
    const { backing, windowOffset } = this
    return {
      lengthBytes: backing.lengthBytes - windowOffset,
      load64: (offsetBytes) => Buffer.from(backing.read(windowOffset + offsetBytes, 8)).readBigUInt64LE(),
    }
  }

  private *parts(gpuPointer: bigint, total: number): Generator<{ at: number; place: number; lengthBytes: number }> {
    for (let at = 0; at < total;) {
      const pointer = gpuPointer + BigInt(at)
      const inPage = Number(pointer % BigInt(PAGE))
      const physical = this.pages.get(pointer - BigInt(inPage))
      if (physical === undefined) throw new RangeError(`the GPU has nothing at 0x${pointer.toString(16)}`)
      const lengthBytes = Math.min(total - at, PAGE - inPage)
      yield { at, place: this.windowOffset + physical + inPage, lengthBytes }
      at += lengthBytes
    }
  }
}
