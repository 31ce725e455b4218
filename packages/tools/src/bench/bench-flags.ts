import type { DriveFlags } from '../command-line/options.js'
import type { ConfirmFlags } from '../drive/confirm-drive.js'
import type { EngineName } from '../drive/by-name.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { OutputOptions } from '../terminal/output.js'
import { formatBytes } from '../terminal/units.js'
import { UsageError } from '../command-line/tools-error.js'
import type { BaselineName } from './baselines.js'
import type { DataPattern } from './content.js'
import type { Setting } from './setting.js'
import type { Sweep, Word } from './shape.js'

/** Options of `gpunvme bench`. Omitted ones whose default depends on the drive are undefined. */
export interface BenchFlags extends DriveFlags, ConfirmFlags, OutputOptions {
  readonly overwrite?: readonly string[]
  readonly bs: readonly number[]
  readonly qd: readonly number[]
  readonly rw: readonly Word[]
  readonly numjobs: readonly number[]
  readonly pattern: DataPattern
  readonly time?: number
  readonly warmUp?: number
  readonly coolDown: number
  readonly repeats: number
  readonly offset: number
  readonly size?: number
  readonly engines?: readonly EngineName[]
  readonly baselines?: readonly BaselineName[]
  readonly file?: string
  readonly timeline?: boolean
  /** Whether to print a summary in Markdown instead of the table. */
  readonly markdown?: boolean
}

/** Seconds of real time, and of modelled time, of which a second takes longer to simulate. */
const DEFAULTS = { wall: { time: 5, warmUp: 1 }, modelled: { time: 0.05, warmUp: 0.005 } } as const

/** Default of --size for writes: enough for any queue, with little wear. */
const WRITTEN_BYTES = 1024 ** 3

export function sweepOf({ rw, bs, qd, numjobs }: BenchFlags): Sweep {
  return { words: rw, blockBytes: bs, depths: qd, jobs: numjobs }
}

export function writes({ rw }: BenchFlags): boolean {
  return rw.some((word) => word === 'write' || word === 'randwrite')
}

/** Returns the setting common to all repeats. @throws UsageError for an area outside the namespace. */
export function settingOf(
  flags: BenchFlags,
  time: OpenedTransport['time'],
  namespace: { readonly blockBytes: number; readonly capacityBytes: number },
  signal: AbortSignal,
): Setting {
  const { blockBytes, capacityBytes } = namespace
  const { offset, coolDown, repeats, pattern, seed = 1 } = flags
  const rest = capacityBytes - offset
  const size = flags.size ?? (writes(flags) ? Math.min(WRITTEN_BYTES, rest) : rest)
  if (offset % blockBytes !== 0 || size % blockBytes !== 0) {
    const [from, bytes] = [offset, size].map((each) => each - (each % blockBytes))
    throw new UsageError(
      `--offset and --size: expected multiples of ${blockBytes} bytes, the block size of this drive`,
      { next: `use --offset ${from} --size ${Math.max(blockBytes, bytes!)}` },
    )
  }
  if (size <= 0 || size > rest) {
    throw new UsageError(`--offset and --size exceed the namespace of ${formatBytes(capacityBytes)}`, {
      facts: [`requested: ${size} bytes from byte ${offset} of ${capacityBytes}`],
    })
  }
  return {
    seconds: flags.time ?? DEFAULTS[time].time,
    warmUpSeconds: flags.warmUp ?? DEFAULTS[time].warmUp,
    coolDownSeconds: coolDown,
    repeats,
    span: { firstBlock: offset / blockBytes, blocks: size / blockBytes },
    seed,
    dataPattern: pattern,
    signal,
  }
}
