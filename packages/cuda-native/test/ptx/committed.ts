import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Queues } from './rules.js'

/** Path of the shipped PTX. */
export const committedPath: string = join(import.meta.dirname, '../../cuda/kernels.ptx')

/** The shipped PTX. */
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

/** Expected properties of a kernel of cuda/kernels.cu. */
export interface Expected {
  readonly parameters: readonly string[]
  /** Absent if the kernel uses no queues. */
  readonly queues?: Queues
  /** Number of instructions that write each doorbell, by its origin. */
  readonly rings: Readonly<Record<string, number>>
  /** Number of places that store submission queue entries. */
  readonly entryStores: number
  /** Number of acquire loads, by the origin of their address. */
  readonly acquires: Readonly<Record<string, number>>
  /** Number of release stores, by the origin of their address. */
  readonly releases: Readonly<Record<string, number>>
  /** Number of instructions that read completion queue entries. */
  readonly polls: number
  /** Maximum registers per thread: 65536 per multiprocessor, divided by the threads of a block; at most 255. */
  readonly registersAtMost: number
}

const u64 = (count: number): string[] => Array<string>(count).fill('.u64')
const silent = { rings: {}, entryStores: 0, acquires: {}, releases: {}, polls: 0, registersAtMost: 64 }

/** Expected kernels, by name. */
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
  // Writes to the register that is its parameter, and uses no queues.
  gpunvme_store32: { parameters: u64(2), queues: register, ...silent, rings: { p0: 1 } },
}

/** Queues of the kernels that use some. */
export const queues: Readonly<Record<string, Queues>> = Object.fromEntries(
  Object.entries(kernels).flatMap(([name, each]) => (each.queues === undefined ? [] : [[name, each.queues]])),
)
