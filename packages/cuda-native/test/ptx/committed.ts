import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Queues } from './rules.js'

/** Where the text lies that is shipped. */
export const committedPath: string = join(import.meta.dirname, '../../cuda/kernels.ptx')

/** The text that is shipped. */
export const committed: string = readFileSync(committedPath, 'utf8')

/** The layout of cuda/leader.cuh: the first parameter points to a Leader, which starts with its gnv_queue. */
const leader: Queues = {
  // gnv_queue::sq, cq, tail_doorbell and head_doorbell.
  submissionQueue: '[p0]',
  completionQueue: '[p0+8]',
  tailDoorbell: '[p0+16]',
  headDoorbell: '[p0+24]',
  // gnv_queue::ready.
  entryMarks: '[p0+64]',
  // Leader::control, and Share::cancelled at 56 of Leader::shares.
  hostWords: ['[p0+520]', '[p0+512]+56'],
  // Leader::report, Share::done at 64, and Active::share.outcomes at 8 of Leader::active.
  wordsForHost: ['[p0+528]', '[p0+512]+64', '[[p0+536]+8]'],
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
const silent = { rings: {}, entryStores: 0, acquires: {}, releases: {}, polls: 0, registersAtMost: 64 }

/** The kernels. */
export const kernels: Readonly<Record<string, Expected>> = {
  gpunvme_serve: {
    parameters: u64(2),
    queues: leader,
    rings: { [leader.tailDoorbell]: 1, [leader.headDoorbell]: 2 },
    entryStores: 1,
    // The control word, after a change. The words of the queue need no acquire: only this warp accesses them.
    acquires: { '[p0+520]': 1 },
    // Share::done; Report::progress and Report::ended.
    releases: { '[p0+512]+64': 3, '[p0+528]': 3, '[p0+528]+16': 1 },
    // The last 8 bytes of an entry.
    polls: 1,
    registersAtMost: 255,
  },
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
