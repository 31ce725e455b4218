import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { PAGE_BYTES } from './segments.js'

/** As much of a namespace as a probe needs; host-driver's is one. */
export interface ProbeNamespace {
  readonly blockBytes: number
  /** LBAs run from 0 to blocks - 1. */
  readonly blocks: number
  /** False where transfers complete without their bytes being moved. */
  readonly movesData?: false | undefined
  /** Reads blocks into memory, in bounded time. @throws where any of it did not succeed. */
  read(slba: number, blocks: number, memory: DmaMemory, options?: { readonly offsetBytes?: number }): Promise<void>
  /** Whether blocks hold what is in memory, as the controller finds: it reads the memory. */
  compare?(
    slba: number,
    blocks: number,
    memory: DmaMemory,
    options?: { readonly offsetBytes?: number },
  ): Promise<boolean>
}

/** Pages of the namespace, one after the other, whose content cannot be taken for anything else. */
export interface ContentRun {
  readonly slba: number
  readonly pages: number
  readonly bytes: Uint8Array
}

/** What a probe can compare with: content of the namespace as it came through host memory. */
export interface ProbeContent {
  /** Bytes of a page: 4096, or a block where that is longer. */
  readonly pageBytes: number
  readonly pageBlocks: number
  readonly runs: readonly ContentRun[]
}

/** Pages that are looked at together. */
const SAMPLE_PAGES = 8
const MOST_SAMPLES = 256
/** Enough that a page is rarely expected to hold what its neighbours do. */
const WANTED_PAGES = 64
/** Fewer would not tell one place from another. */
export const FEWEST_PAGES = 4
/** What host memory holds before a read: a read that moved nothing leaves blocks of equal bytes, which are no content. */
const UNTOUCHED = 0xa5
/** Samples are spread by the golden ratio: evenly, however many there are, and on no boundary of anything. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9

/**
 * Looks for content to probe with, through host memory: at the beginning of the namespace and all over it, until there
 * is enough or it was looked in 256 places. Pages with a block of equal bytes, with two equal blocks, or that are there
 * twice are left out: memory that was never written to may hold the same.
 * @throws what a read throws; its memory is kept then, since the controller may still write to it.
 */
export async function findContent(namespace: ProbeNamespace, host: DmaAllocator): Promise<ProbeContent> {
  const { blockBytes, blocks } = namespace
  const pageBytes = Math.max(PAGE_BYTES, blockBytes)
  const pageBlocks = pageBytes / blockBytes
  const pagesThere = Math.floor(blocks / pageBlocks)
  const runs: ContentRun[] = []
  if (pagesThere === 0) return { pageBytes, pageBlocks, runs }
  const samplePages = Math.min(SAMPLE_PAGES, pagesThere)
  const memory = host.alloc(samplePages * pageBytes)
  const bytes = viewOf(memory)
  const seen = new Set<string>()
  const looked = new Set<number>()
  let found = 0
  for (let sample = 0; sample < MOST_SAMPLES && found < WANTED_PAGES; sample++) {
    const first = Math.floor(((sample * GOLDEN_RATIO) % 1) * (pagesThere - samplePages + 1))
    if (looked.has(first)) continue
    looked.add(first)
    bytes.fill(UNTOUCHED)
    memory.forDevice(0, memory.lengthBytes)
    await namespace.read(first * pageBlocks, samplePages * pageBlocks, memory)
    memory.forHost(0, memory.lengthBytes)
    for (const { page, pages } of contentRuns(bytes, { pageBytes, blockBytes, seen })) {
      const from = page * pageBytes
      runs.push({ slba: (first + page) * pageBlocks, pages, bytes: bytes.slice(from, from + pages * pageBytes) })
      found += pages
    }
  }
  memory.free()
  return { pageBytes, pageBlocks, runs }
}

/** Runs of neighbouring pages that can be probed with; their content goes into `seen`. */
function contentRuns(
  bytes: Uint8Array,
  { pageBytes, blockBytes, seen }: { pageBytes: number; blockBytes: number; seen: Set<string> },
): { page: number; pages: number }[] {
  const runs: { page: number; pages: number }[] = []
  for (let page = 0; page < bytes.length / pageBytes; page++) {
    const content = Buffer.from(bytes.buffer, bytes.byteOffset + page * pageBytes, pageBytes)
    const key = content.toString('latin1')
    if (!isContent(content, blockBytes) || seen.has(key)) continue
    seen.add(key)
    const last = runs.at(-1)
    if (last !== undefined && last.page + last.pages === page) last.pages++
    else runs.push({ page, pages: 1 })
  }
  return runs
}

/** No block is all one byte, no two are alike. */
function isContent(page: Buffer, blockBytes: number): boolean {
  const blocks = new Set<string>()
  for (let at = 0; at < page.length; at += blockBytes) {
    const block = page.subarray(at, at + blockBytes)
    const first = block[0]!
    if (block.every((byte) => byte === first)) return false
    blocks.add(block.toString('latin1'))
  }
  return blocks.size === page.length / blockBytes
}

/** @throws TypeError for memory that the CPU cannot reach. */
function viewOf({ view, lengthBytes }: DmaMemory): Uint8Array {
  if (view === undefined) throw new TypeError('host: expected an allocator of memory with a view')
  return new Uint8Array(view.buffer, view.byteOffset, lengthBytes)
}
