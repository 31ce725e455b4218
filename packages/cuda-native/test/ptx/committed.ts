import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Queues } from './rules.js'

/** Where the text lies that is shipped. */
export const committedPath: string = join(import.meta.dirname, '../../cuda/kernels.ptx')

/** The text that is shipped. */
export const committed: string = readFileSync(committedPath, 'utf8')

/** The layout of cuda/pair.cuh: Leader is what the first parameter points to, with its Pairs where that says. */
const leader: Queues = {
  // Leader::cq at 0, head_doorbell at 8, pairs at 16; Pair::sq at 0, tail_doorbell at 8.
  completionQueue: '[p0]',
  headDoorbell: '[p0+8]',
  submissionQueue: '[[p0+16]]',
  tailDoorbell: '[[p0+16]+8]',
  // What Pair::control at 72 points to, and Share::cancelled at 56 of Pair::shares at 64.
  hostWords: ['[[p0+16]+72]', '[[p0+16]+64]+56'],
  // Leader::report at 24, Share::done at 64, and what Active::share.outcomes points to.
  wordsForHost: ['[p0+24]', '[[p0+16]+64]+64', '[[[p0+16]+80]+8]'],
}

/** Queues of a kernel that accesses only a register. */
const register: Queues = {
  tailDoorbell: 'p0',
  headDoorbell: 'p0',
  submissionQueue: '',
  completionQueue: '',
  hostWords: [],
  wordsForHost: [],
}

/** What a kernel is to be, typed from cuda/kernels.cu: a new kernel belongs here. */
export interface Expected {
  readonly parameters: readonly string[]
  /** Where it has queues. */
  readonly queues?: Queues
  /** How many instructions ring each doorbell. */
  readonly rings: Readonly<Record<string, number>>
  /** How many places store entries. */
  readonly entryStores: number
  /** Loads that acquire, by what they read. */
  readonly acquires: Readonly<Record<string, number>>
  /** Number of release stores, by the origin of their address. */
  readonly releases: Readonly<Record<string, number>>
  /** How many instructions read completion entries. */
  readonly polls: number
  /** 65536 of a multiprocessor for the threads of a block; one thread has at most 255. */
  readonly registersAtMost: number
}

const u64 = (count: number): string[] => Array<string>(count).fill('.u64')
const ringing = {
  rings: { '[[p0+16]+8]': 1, '[p0+8]': 2 },
  // Pair::control at 72, where it has changed.
  acquires: { '[[p0+16]+72]': 1 },
  // Share::done at 64; Report::progress and Report::ended at 0 and 16.
  releases: { '[[p0+16]+64]+64': 4, '[p0+24]': 4, '[p0+24]+16': 1 },
  // The last 8 bytes of an entry.
  polls: 1,
  registersAtMost: 255,
}
const silent = { rings: {}, entryStores: 0, acquires: {}, releases: {}, polls: 0, registersAtMost: 64 }

/** The kernels. */
export const kernels: Readonly<Record<string, Expected>> = {
  gpunvme_serve: { parameters: u64(2), queues: leader, ...ringing, entryStores: 1 },
  // Its first lane and the others store entries in places of their own.
  gpunvme_warp_read: { parameters: u64(2), queues: { ...leader, byWarp: true }, ...ringing, entryStores: 2 },
  gpunvme_checksum: { parameters: u64(7), ...silent },
  gpunvme_scatter: { parameters: u64(4), ...silent },
  gpunvme_pattern_fill: { parameters: u64(4), ...silent },
  gpunvme_pattern_verify: { parameters: u64(5), ...silent },
  // Rings what it is given, and has no queues.
  gpunvme_store32: { parameters: u64(2), queues: register, ...silent, rings: { p0: 1 } },
}

/** Those that have queues. */
export const queues: Readonly<Record<string, Queues>> = Object.fromEntries(
  Object.entries(kernels).flatMap(([name, each]) => (each.queues === undefined ? [] : [[name, each.queues]])),
)
