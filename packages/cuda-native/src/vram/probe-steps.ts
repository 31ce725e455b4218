import { randomStream } from '@gpunvme/nvme-spec/faults'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import type { ContentRun, ProbeContent } from './probe-content.js'
import { hex } from './segments.js'
import { GPU_PAGE_BYTES } from './find-pages.js'

/** A command of a probe: pages of a run, and their place in the memory. */
export interface Target {
  readonly offsetBytes: number
  readonly run: ContentRun
  /** Index in the run. */
  readonly firstPage: number
  readonly pages: number
}

/** Commands that are executed together, before the whole memory is checked. */
export interface Step {
  readonly name: string
  readonly targets: readonly Target[]
}

/** Maximum number of edges that are probed one by one. The last step covers all pages in any case. */
const MAX_EDGES = 16

/** Returns the steps of a probe. Consecutive targets have different content. */
export function probeSteps(
  memory: DmaMemory,
  gpuPointer: bigint,
  { pageBytes, runs }: ProbeContent,
  seed: number,
): Step[] {
  const pagesThere = Math.floor(memory.lengthBytes / pageBytes)
  const pick = picker(runs, seed)
  const take = (offsetBytes: number, wanted: number): Target => ({ offsetBytes, ...pick(wanted) })
  // Not exactly the middle: a page of the GPU may end there.
  const middle = (Math.floor(pagesThere / 2) + 1) * pageBytes
  const edges = borders(memory, gpuPointer, pageBytes)
  const all: Target[] = []
  for (let page = 0; page < pagesThere;) {
    const target = take(page * pageBytes, Math.min(pagesThere - page, 1 + (page % 7)))
    all.push(target)
    page += target.pages
  }
  return [
    { name: 'one page in the middle', targets: [take(middle, 1)] },
    { name: 'the last page', targets: [take((pagesThere - 1) * pageBytes, 1)] },
    { name: 'the first page', targets: [take(0, 1)] },
    ...edges.map((edge) => ({ name: `across byte ${hex(edge)}`, targets: [take(edge - pageBytes, 2)] })),
    { name: 'every page', targets: all },
  ]
}

/**
 * Chooses pages at random, never the same twice in a row: a repeating order could hide a wrong place.
 */
function picker(runs: readonly ContentRun[], seed: number): (wanted: number) => Omit<Target, 'offsetBytes'> {
  const random = randomStream(seed >>> 0, 'probe')
  const longest = runs.reduce((max, run) => Math.max(max, run.pages), 0)
  const choices = new Map<number, Omit<Target, 'offsetBytes'>[]>()
  let last: Omit<Target, 'offsetBytes'> | undefined
  return (wanted) => {
    const pages = Math.min(wanted, longest)
    let fitting = choices.get(pages)
    if (fitting === undefined) {
      fitting = runs.flatMap((run) =>
        Array.from({ length: Math.max(0, run.pages - pages + 1) }, (_, firstPage) => ({ run, firstPage, pages })),
      )
      choices.set(pages, fitting)
    }
    let index = Math.floor(random() * fitting.length)
    if (fitting[index] === last) index = (index + 1) % fitting.length
    last = fitting[index]!
    return last
  }
}

/** Returns boundaries of GPU pages and of segments, where addresses may be discontinuous. */
function borders({ segments, lengthBytes }: DmaMemory, gpuPointer: bigint, pageBytes: number): number[] {
  const inPage = Number(gpuPointer % BigInt(GPU_PAGE_BYTES))
  const found = new Set<number>()
  for (let at = GPU_PAGE_BYTES - inPage; at < lengthBytes; at += GPU_PAGE_BYTES) found.add(at)
  for (const { offsetBytes } of segments.slice(1, MAX_EDGES)) found.add(offsetBytes)
  return [...found]
    .filter((at) => at >= pageBytes && at + pageBytes <= lengthBytes && at % pageBytes === 0)
    .sort((one, other) => one - other)
    .slice(0, MAX_EDGES)
}

/** Returns pseudo-random bytes (xorshift32) that differ between steps. */
export function filling(lengthBytes: number, seed: number, step: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(lengthBytes / 4))
  let state = (Math.imul(seed | 0, 0x9e37_79b9) ^ Math.imul(step + 1, 0x85eb_ca6b)) >>> 0 || 1
  for (let index = 0; index < words.length; index++) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    words[index] = state
  }
  return new Uint8Array(words.buffer, 0, lengthBytes)
}
