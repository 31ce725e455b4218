import { randomBytes, randomInt } from 'node:crypto'
import { VramRefusedError } from './provider.js'
import { hex } from './segments.js'

/** Page size of the window and of large allocations. Pages of an allocation can be in any order. */
export const GPU_PAGE_BYTES = 2 * 1024 * 1024

/** Copies to and from GPU memory by the GPU's driver. A copy has finished when its call returns. */
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

/** Marks in a page: one at its start, and others at random, which compressed, tiled or scattered memory shows elsewhere. */
const MARKS = 4

/** A mark is a random word, and a second random word XORed with the index of the page. */
const MARK_BYTES = 16

/**
 * Finds pages of GPU memory in the window by their content: writes marks to them through the GPU's driver, and searches the
 * window for them with the CPU. Marks are random, so other GPU memory is not mistaken for one. The bytes that they replaced
 * are restored. Four marks do not prove that every byte of a page is in place, but several pages with another layout are found.
 * @param gpuPointers GPU addresses of the pages, multiples of 2 MiB. @param from offset in the window where the
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
  const replaced: { readonly at: bigint; readonly bytes: Uint8Array }[] = []
  const restore = () => {
    for (const { at, bytes } of replaced.toReversed()) gpu.write(at, bytes)
  }
  let found: readonly number[]
  try {
    const marked = Array.from({ length: MARKS }, (_, number) => writeMarks(gpuPointers, gpu, number === 0, replaced))
    found = locate(gpuPointers, marked, window, from)
  } catch (error) {
    try {
      restore()
    } catch {
      // The first error is reported.
    }
    throw error
  }
  restore()
  return found
}

function locate(
  gpuPointers: readonly bigint[],
  [start, ...others]: readonly Marks[],
  window: WindowView,
  from: number,
): readonly number[] {
  const offsets = search(start!, window, gpuPointers.length, from)
  return gpuPointers.map((page, index) => {
    const offset = offsets[index]
    if (offset === undefined)
      throw new VramRefusedError({
        ...{ provider: 'static BAR1', reason: 'page-unresolved' },
        found: `the page at ${hex(page)} was not found in the window of BAR1`,
        next: 'use memory of this GPU; if a part of BAR1 reads as zeros, the CPU cannot access it on this machine',
      })
    if (others.some((marks) => pageAt(marks, window, offset, index) !== index))
      throw new VramRefusedError({
        ...{ provider: 'static BAR1', reason: 'page-kind' },
        found: `the page at ${hex(page)} is compressed or not linear: BAR1 and kernels see different bytes`,
        next: 'allocate without compression',
      })
    return offset
  })
}

/** A mark in each page. */
interface Marks {
  /** Offset in each page. */
  readonly offsets: readonly number[]
  readonly first: bigint
  /** XORed with the index of the page. */
  readonly second: bigint
}

function writeMarks(
  gpuPointers: readonly bigint[],
  gpu: SyncGpuAccess,
  atStart: boolean,
  replaced: { readonly at: bigint; readonly bytes: Uint8Array }[],
): Marks {
  const random = randomBytes(MARK_BYTES)
  const first = random.readBigUInt64LE(0)
  const second = random.readBigUInt64LE(8)
  // Behind the first mark, at a multiple of its length.
  const places = GPU_PAGE_BYTES / MARK_BYTES
  const offsets = gpuPointers.map(() => (atStart ? 0 : randomInt(1, places) * MARK_BYTES))
  for (const [index, page] of gpuPointers.entries()) {
    const at = page + BigInt(offsets[index]!)
    replaced.push({ at, bytes: gpu.read(at, MARK_BYTES) })
    random.writeBigUInt64LE(second ^ BigInt(index), 8)
    gpu.write(at, random)
  }
  return { offsets, first, second }
}

/** Returns the number of the page whose mark is where page `index` has its own; undefined if there is no mark. */
function pageAt(
  { offsets, first, second }: Marks,
  window: WindowView,
  offset: number,
  index: number,
): number | undefined {
  const at = offset + offsets[index]!
  return window.load64(at) === first ? Number(window.load64(at + 8) ^ second) : undefined
}

/** Returns the offset of each page. Searches from `from` to the end of the window, then from its start. */
function search(start: Marks, window: WindowView, count: number, from: number): (number | undefined)[] {
  const offsets = Array.from<number | undefined>({ length: count })
  let missing = count
  for (let seen = 0; seen < window.lengthBytes && missing > 0; seen += GPU_PAGE_BYTES) {
    const offset = (from + seen) % window.lengthBytes
    // The first marks are all at the start of their page.
    const index = pageAt(start, window, offset, 0)
    if (index === undefined || index >= count) continue
    offsets[index] = offset
    missing--
  }
  return offsets
}
