import type { DriveFlags } from '../command-line/options.js'
import type { ConfirmFlags } from '../drive/confirm-drive.js'
import type { EngineName } from '../drive/by-name.js'
import type { OpenedTransport } from '../drive/opened-transport.js'
import type { OutputOptions } from '../terminal/output.js'
import { formatBytes } from '../terminal/units.js'
import { UsageError } from '../command-line/usage-error.js'
import type { BaselineName } from './baselines.js'
import type { DataPattern } from './content.js'
import type { Setting } from './setting.js'
import type { Sweep, Word } from './shape.js'

/** What `gpunvme bench` takes. What was not given is undefined where the default depends on the drive. */
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
  /** A summary in Markdown takes the place of the table. */
  readonly markdown?: boolean
}

/** Seconds of the wall's clock, and of the simulator's, where a second takes longer than a second to simulate. */
const DEFAULTS = { wall: { time: 5, warmUp: 1 }, modelled: { time: 0.05, warmUp: 0.005 } } as const

/** What is written where --size says nothing: enough for any queue, and no more of a drive's life than that. */
const WRITTEN_BYTES = 1024 ** 3

export function sweepOf({ rw, bs, qd, numjobs }: BenchFlags): Sweep {
  return { words: rw, blockBytes: bs, depths: qd, jobs: numjobs }
}

export function writes({ rw }: BenchFlags): boolean {
  return rw.some((word) => word === 'write' || word === 'randwrite')
}

/** What all repeats have in common. @throws UsageError for a part that the namespace does not have. */
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
    throw new UsageError(`--offset and --size have to be multiples of ${blockBytes} bytes, a block of this drive`)
  }
  if (size <= 0 || size > rest) {
    throw new UsageError(`--offset and --size go beyond the end: there are ${formatBytes(capacityBytes)}`, {
      facts: [`${capacityBytes} bytes, of which the part from ${offset} on with ${size} bytes was asked for`],
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
