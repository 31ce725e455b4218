import type { DmaAllocator, DmaMemory } from '@gpunvme/nvme-spec/transport'
import { PAGE_BYTES } from './segments.js'

/** The part of a namespace that probes need; a namespace of host-driver has it. */
export interface ProbeNamespace {
  readonly blockBytes: number
  /** Number of logical blocks. */
  readonly blocks: number
  /** False if transfers complete without moving bytes, as with `unverifiableMedia` of nvme-sim. */
  readonly movesData?: false | undefined
  /** Reads blocks into memory, in bounded time. @throws if a part of it failed. */
  read(slba: number, blocks: number, memory: DmaMemory, options?: { readonly offsetBytes?: number }): Promise<void>
  /** Returns whether blocks equal memory, by a Compare of the controller, which reads the memory. */
  compare?(
    slba: number,
    blocks: number,
    memory: DmaMemory,
    options?: { readonly offsetBytes?: number },
  ): Promise<boolean>
}

/** Consecutive pages of the namespace with distinguishable content. */
export interface ContentRun {
  readonly slba: number
  readonly pages: number
  readonly bytes: Uint8Array
}

/** Content of the namespace, read through host memory, for comparison. */
export interface ProbeContent {
  /** Bytes per page: 4096, or the block length if that is longer. */
  readonly pageBytes: number
  readonly pageBlocks: number
  readonly runs: readonly ContentRun[]
}

/** Pages per read. */
const SAMPLE_PAGES = 8
const MAX_SAMPLES = 256
/** Number of pages after which the search ends: enough that neighbours rarely have equal expected content. */
const WANTED_PAGES = 64
/** Minimum number of pages to tell places apart. */
export const FEWEST_PAGES = 4
/** Fill of host memory before a read: if a read moves nothing, its blocks consist of equal bytes and are rejected. */
const UNTOUCHED = 0xa5
/** Spreads samples evenly for any number of them, and off alignment boundaries. */
const GOLDEN_RATIO = 0.618_033_988_749_894_9

/**
 * Searches the namespace for content to probe with, by reads into host memory, in up to 256 places from its start on. Pages
 * with a block of equal bytes, with two equal blocks, or with the content of an earlier page are left out: memory that was
 * never written may hold the same.
 * @throws errors of `read`; its memory stays allocated, since the controller may still write to it.
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
  for (let sample = 0; sample < MAX_SAMPLES && found < WANTED_PAGES; sample++) {
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

/** Returns runs of neighbouring usable pages, and adds their content to `seen`. */
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

/** Returns whether no block consists of equal bytes and no two blocks are equal. */
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

/** @throws TypeError for memory without a view. */
function viewOf({ view, lengthBytes }: DmaMemory): Uint8Array {
  if (view === undefined) throw new TypeError('host: expected an allocator whose memory has a view')
  return new Uint8Array(view.buffer, view.byteOffset, lengthBytes)
}
