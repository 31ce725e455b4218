import type { DeviceMemory, DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { GpuBarRuns, GpuMemorySource, SyncGpuAccess, WindowView } from '../../src/vram/index.js'

const PAGE = 2 * 1024 * 1024

/** Memory behind the BAR of a GPU, such as QEMU's `vram`. */
export interface BackingMemory {
  /** IOVA of its first byte. */
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

/** Returns a `mapPeer` like that of a transport with bus addresses, for a BAR at `iova`. */
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

/** Uses host memory of a simulator as a BAR, since its controller cannot access other memory. */
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
 * A GPU whose memory is in a window of `backing`. Addresses on the GPU are contiguous; pages of 2 MiB are scattered
 * over the window, and some adjacent pages are in reverse order.
 */
export class FakeGpu implements SyncGpuAccess, GpuMemorySource {
  readonly backing: BackingMemory
  readonly windowOffset: number
  /** Physical addresses by page address on the GPU. */
  readonly pages = new Map<bigint, number>()
  readonly freed: bigint[] = []
  /** Added to addresses of allocations. Drivers guarantee only an alignment of 256 bytes. */
  misalignment = 0n
  private readonly unused: number[]
  private nextPointer = 0x7f12_0000_0000n

  constructor(backing: BackingMemory, windowOffset = 0) {
    this.backing = backing
    this.windowOffset = windowOffset
    const count = Math.floor((backing.lengthBytes - windowOffset) / PAGE)
    // Visits each page once, with a step that is coprime to the number of pages: 7, 4, 1, ...
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
