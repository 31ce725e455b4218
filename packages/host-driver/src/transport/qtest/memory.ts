import type { DmaAllocator, DmaMemory, DmaRequest } from '@gpunvme/nvme-spec/transport'
import { AddressSpace } from '../address-space.js'
import type { SharedFile } from './shared-file.js'

const PAGE_BYTES = 4096
/** Zeros are written in pieces of this size: a large allocation needs no buffer of its own size. */
const ZEROS = new Uint8Array(1024 * 1024)

/** A range of addresses for the controllers, its file, and what is free. */
export interface MemoryArea {
  readonly file: SharedFile
  /** Address of the file's first byte for the controllers. */
  readonly iova: number
  readonly ranges: AddressSpace
  /** Whether the host has a view: of guest RAM yes, of a GPU's memory only if a test requests it. */
  readonly hasView: boolean
}

/** Returns an area that allocates from the whole file except its first `reservedBytes`. */
export function memoryArea(file: SharedFile, iova: number, reservedBytes: number, hasView: boolean): MemoryArea {
  const ranges = new AddressSpace([{ start: iova + reservedBytes, lengthBytes: file.lengthBytes - reservedBytes }])
  return { file, iova, ranges, hasView }
}

/** Allocator of a machine: `host` is its RAM, `gpu` the memory behind the BAR that replaces a GPU's. */
export function machineMemory(ram: MemoryArea, vram: MemoryArea | undefined): DmaAllocator {
  return {
    alloc(lengthBytes, request = {}) {
      const { alignBytes = PAGE_BYTES, where = 'host' } = request
      check(lengthBytes, alignBytes, request)
      if (where === 'host') return allocate(ram, lengthBytes, alignBytes)
      if (vram === undefined)
        throw new TypeError(
          "dma.alloc: where: expected 'host', got 'gpu'; start QEMU with { vramBytes } to have GPU memory",
        )
      return allocate(vram, lengthBytes, alignBytes)
    },
  }
}

function check(lengthBytes: number, alignBytes: number, { where }: DmaRequest): void {
  if (!(Number.isSafeInteger(lengthBytes) && lengthBytes > 0))
    throw new RangeError(`dma.alloc: lengthBytes: expected a positive integer, got ${lengthBytes}`)
  if (!(Number.isSafeInteger(alignBytes) && alignBytes > 0 && Number.isInteger(Math.log2(alignBytes))))
    throw new RangeError(`dma.alloc: alignBytes: expected a power of two, got ${alignBytes}`)
  if (where !== undefined && !['host', 'gpu'].includes(where))
    throw new TypeError(`dma.alloc: where: expected 'host' or 'gpu', got ${JSON.stringify(where)}`)
}

/** Guest addresses are contiguous, so `contiguous` always holds. */
function allocate(area: MemoryArea, lengthBytes: number, alignBytes: number): DmaMemory {
  const { ranges, file } = area
  // Whole pages: the offset of a PRP entry then says where its page ends, and no two allocations share a page.
  const takenBytes = Math.ceil(lengthBytes / PAGE_BYTES) * PAGE_BYTES
  const iova = ranges.takeAligned(takenBytes, alignBytes)
  if (iova === undefined) {
    const sizes = ranges.freeRanges.map((range) => range.lengthBytes)
    const bytes = sizes.reduce((sum, size) => sum + size, 0)
    const largestBytes = sizes.reduce((max, each) => Math.max(max, each), 0)
    throw new RangeError(
      `dma.alloc: no room for ${lengthBytes} bytes aligned to ${alignBytes}: ${bytes} bytes of the machine's memory are ` +
        `left, ${largestBytes} of them in one piece; free some, or start QEMU with more`,
    )
  }
  const start = iova - area.iova
  const real = file.view(start, lengthBytes)
  for (let offset = 0; offset < takenBytes; offset += ZEROS.length)
    file.write(start + offset, ZEROS.subarray(0, Math.min(ZEROS.length, takenBytes - offset)))
  // Without a native host the view is a copy, and forDevice and forHost transfer bytes, as on a machine that is not
  // coherent.
  const copy = area.hasView && real === undefined ? new Uint8Array(lengthBytes) : undefined
  let isFree = false
  const held = () => {
    if (isFree) throw new TypeError('this memory was freed')
  }
  const inside = (offsetBytes: number, bytes: number) => {
    held()
    if (offsetBytes >= 0 && bytes >= 0 && offsetBytes + bytes <= lengthBytes) return
    throw new RangeError(`memory of ${lengthBytes} bytes: expected a range inside it, got ${offsetBytes} + ${bytes}`)
  }
  const view = area.hasView ? (real ?? new DataView(copy!.buffer)) : undefined
  return {
    lengthBytes,
    ...(view && { view }),
    segments: [{ offsetBytes: 0, iova, lengthBytes }],
    iovaAt(offsetBytes) {
      held()
      if (!(offsetBytes >= 0 && offsetBytes < lengthBytes))
        throw new RangeError(`memory of ${lengthBytes} bytes: expected an offset inside it, got ${offsetBytes}`)
      return iova + offsetBytes
    },
    forDevice(offsetBytes, bytes) {
      inside(offsetBytes, bytes)
      if (copy) file.write(start + offsetBytes, copy.subarray(offsetBytes, offsetBytes + bytes))
    },
    forHost(offsetBytes, bytes) {
      inside(offsetBytes, bytes)
      if (copy) file.read(start + offsetBytes, copy.subarray(offsetBytes, offsetBytes + bytes))
    },
    free() {
      held()
      isFree = true
      ranges.give(iova)
    },
  }
}
