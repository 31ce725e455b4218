import type { BenchCell } from '../report/bench-results.js'

/** One setting of a sweep, for any source. */
export type Shape = Pick<BenchCell, 'rw' | 'pattern' | 'blockBytes' | 'depth' | 'jobs'>

/** fio's names of access patterns, and their meaning. */
export const WORDS = {
  read: { rw: 'read', pattern: 'sequential' },
  randread: { rw: 'read', pattern: 'random' },
  write: { rw: 'write', pattern: 'sequential' },
  randwrite: { rw: 'write', pattern: 'random' },
} as const

export type Word = keyof typeof WORDS

/** Parameters of a sweep: all combinations are measured. */
export interface Sweep {
  readonly words: readonly Word[]
  readonly blockBytes: readonly number[]
  readonly depths: readonly number[]
  readonly jobs: readonly number[]
}

/** Returns the settings of a sweep; the first list varies slowest. */
export function shapesOf({ words, blockBytes, depths, jobs }: Sweep): Shape[] {
  return words.flatMap((word) =>
    blockBytes.flatMap((bytes) =>
      depths.flatMap((depth) => jobs.map((count) => ({ ...WORDS[word], blockBytes: bytes, depth, jobs: count }))),
    ),
  )
}

/** Returns fio's name: 'randread'. */
export function wordOf({ rw, pattern }: Pick<Shape, 'rw' | 'pattern'>): string {
  const found = Object.entries(WORDS).find(([, each]) => each.rw === rw && each.pattern === pattern)
  return found?.[0] ?? `${pattern} ${rw}`
}

/** Returns the commands in flight on all queues together. */
export function inFlight({ depth, jobs }: Pick<Shape, 'depth' | 'jobs'>): number {
  return depth * jobs
}

export function sameShape(a: Shape, b: Shape): boolean {
  const { rw, pattern, blockBytes, depth, jobs } = a
  return rw === b.rw && pattern === b.pattern && blockBytes === b.blockBytes && depth === b.depth && jobs === b.jobs
}
