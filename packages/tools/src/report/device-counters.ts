import type { BenchRepeat, BenchResults } from './bench-results.js'
import { counted } from './statistics.js'

/** The drive's own counters and the reported commands, over all repeats with counters. */
export interface CountedByDrive {
  readonly repeats: number
  readonly reportedCommands: bigint
  /** SMART's host reads and writes, including warm-up and other programs. */
  readonly deviceCommands: bigint
}

/** Undefined without counters in any repeat: they may not be requested, or not supported. */
export function countedByDrive({ cells }: Pick<BenchResults, 'cells'>): CountedByDrive | undefined {
  const repeats = cells.flatMap((cell) => counted(cell.repeats).filter(({ counters }) => counters !== undefined))
  if (repeats.length === 0) return undefined
  const sum = (of: (repeat: BenchRepeat) => bigint) => repeats.reduce((total, repeat) => total + of(repeat), 0n)
  return {
    repeats: repeats.length,
    reportedCommands: sum(({ commands }) => BigInt(commands)),
    deviceCommands: sum(({ counters }) => {
      const { before, after } = counters!
      const reads = BigInt(after.hostReadCommands) - BigInt(before.hostReadCommands)
      return reads + BigInt(after.hostWriteCommands) - BigInt(before.hostWriteCommands)
    }),
  }
}
