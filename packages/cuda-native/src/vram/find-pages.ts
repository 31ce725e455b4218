import { randomBytes } from 'node:crypto'
import { VramRefusedError } from './provider.js'
import { hex } from './segments.js'

/** Page size of the window and of large allocations. Pages of an allocation can be in any order. */
export const GPU_PAGE_BYTES = 2 * 1024 * 1024

/** Access to GPU memory by copies of its driver. A copy has finished when its call returns. */
export interface SyncGpuAccess {
  /** Copies bytes to GPU memory. */
  write(gpuPointer: bigint, bytes: Uint8Array): void
  /** Returns a copy of bytes in GPU memory. */
  read(gpuPointer: bigint, lengthBytes: number): Uint8Array
}

/** The CPU's view of the window in BAR1. */
export interface WindowView {
  readonly lengthBytes: number
  /** Loads 64 bits. @param offsetBytes in the window, a multiple of 8 */
  load64(offsetBytes: number): bigint
}

/** Offsets of the marks in a page: its start, and a place where a compressed or tiled page would show other bytes. */
const MARK_OFFSETS = [0, 0x15_4a80] as const

/** A mark is a random word, and the number of the page combined with another random word. */
const MARK_BYTES = 16

/**
 * Finds pages of GPU memory in the window by their content: writes marks to them through the GPU's driver, and searches the
 * window for them with the CPU. Marks are random, so nothing else in the GPU's memory is taken for one. The bytes that they
 * replaced are restored.
 * @param gpuPointers addresses of the pages for kernels, multiples of 2 MiB. @param from offset in the window where the
 *   search begins, a multiple of 2 MiB: pages that were allocated together are often close to each other.
 * @returns the offset of each page in the window.
 * @throws VramRefusedError 'page-unresolved', 'page-kind'; errors of `gpu`.
 */
export function findPages(
  gpuPointers: readonly bigint[],
  gpu: SyncGpuAccess,
  window: WindowView,
  from = 0,
): readonly number[] {
  const replaced = gpuPointers.flatMap((page) =>
    MARK_OFFSETS.map((offset) => {
      const at = page + BigInt(offset)
      return { at, bytes: gpu.read(at, MARK_BYTES) }
    }),
  )
  try {
    const [start, inside] = MARK_OFFSETS.map((offsetBytes) => writeMarks(gpuPointers, gpu, offsetBytes)) as [
      Marks,
      Marks,
    ]
    const offsets = search(start, window, gpuPointers.length, from)
    return gpuPointers.map((page, index) => {
      const offset = offsets[index]
      if (offset === undefined)
        throw new VramRefusedError({
          ...{ provider: 'static BAR1', reason: 'page-unresolved' },
          found: `the page at ${hex(page)} is not in the window of BAR1`,
          next: 'use memory of this GPU; if a part of BAR1 reads as zeros, the CPU cannot access it on this machine',
        })
      if (pageAt(inside, window, offset) !== index)
        throw new VramRefusedError({
          ...{ provider: 'static BAR1', reason: 'page-kind' },
          found: `the page at ${hex(page)} is compressed or not linear: BAR1 shows other bytes than kernels see`,
          next: 'allocate without compression',
        })
      return offset
    })
  } finally {
    for (const { at, bytes } of replaced) gpu.write(at, bytes)
  }
}

/** Marks at one offset of each page. */
interface Marks {
  readonly offsetBytes: number
  readonly first: bigint
  /** Combined with the page's number. */
  readonly second: bigint
}

function writeMarks(gpuPointers: readonly bigint[], gpu: SyncGpuAccess, offsetBytes: number): Marks {
  const random = randomBytes(MARK_BYTES)
  const first = random.readBigUInt64LE(0)
  const second = random.readBigUInt64LE(8)
  for (const [index, page] of gpuPointers.entries()) {
    random.writeBigUInt64LE(second ^ BigInt(index), 8)
    gpu.write(page + BigInt(offsetBytes), random)
  }
  return { offsetBytes, first, second }
}

/** Returns the number of the page whose mark is at an offset of the window; undefined if there is none. */
function pageAt({ offsetBytes, first, second }: Marks, window: WindowView, offset: number): number | undefined {
  if (window.load64(offset + offsetBytes) !== first) return undefined
  return Number(window.load64(offset + offsetBytes + 8) ^ second)
}

/** Returns the offset of each page, searched up to the end of the window and then from its start. */
function search(marks: Marks, window: WindowView, count: number, from: number): (number | undefined)[] {
  const offsets = Array.from<number | undefined>({ length: count })
  let missing = count
  for (let seen = 0; seen < window.lengthBytes && missing > 0; seen += GPU_PAGE_BYTES) {
    const offset = (from + seen) % window.lengthBytes
    const index = pageAt(marks, window, offset)
    if (index === undefined || index >= count) continue
    offsets[index] = offset
    missing--
  }
  return offsets
}
