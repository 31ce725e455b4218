import type { BenchRepeat, BenchResults } from './bench-results.js'
import { counted } from './statistics.js'

/** What the drive itself has counted, beside what was reported, over all repeats that have counters. */
export interface CountedByDrive {
  readonly repeats: number
  readonly reportedCommands: bigint
  /** Of SMART: reads and writes by the host, warm-up and others' among them. */
  readonly deviceCommands: bigint
}

/** Undefined where no repeat has counters: a drive need not be asked, and a simulated one may not count. */
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
