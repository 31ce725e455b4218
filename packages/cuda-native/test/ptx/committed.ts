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
}

/** The kernels that have queues. */
export const queues: Readonly<Record<string, Queues>> = {
  gpunvme_serve: leader,
  gpunvme_warp_read: { ...leader, byWarp: true },
}
