import { type Link, completionWireBytes, lineRate, payloadLimit } from '@gpunvme/nvme-spec/pcie'
import type { BenchRepeat } from '../report/bench-results.js'
import { formatRate } from '../terminal/units.js'
import type { Shape } from './shape.js'
import { countedBy, disagreement, shortfall, type Counted } from './smart.js'

/** Independent evidence for a repeat. */
export interface Evidence {
  /** Commands sent by the driver, including retries. Undefined for a baseline, where the kernel splits commands. */
  readonly sentCommands: number | undefined
  /** Commands counted by the engine; undefined if it does not count. */
  readonly engineCommands: number | undefined
  /** Problem of the checked bytes; undefined if they match or were not checked. */
  readonly wrongBytes: string | undefined
}

/** Returns why a repeat is invalid; undefined if all evidence agrees. */
export function problemOf(
  repeat: Pick<BenchRepeat, 'bytes' | 'commands' | 'seconds' | 'counters'>,
  { sentCommands, engineCommands, wrongBytes }: Evidence,
  rw: Shape['rw'],
  link: Link | undefined,
): string | undefined {
  const { bytes, commands, seconds, counters } = repeat
  if (commands === 0) return 'no command completed'
  if (engineCommands !== undefined && engineCommands < commands) {
    return `the engine executed ${engineCommands} commands, but reports ${commands} as done`
  }
  const miscounted =
    counters === undefined ? undefined : counterProblem(countedBy(counters, rw), sentCommands, bytes, rw)
  if (miscounted !== undefined) return miscounted
  if (wrongBytes !== undefined) return wrongBytes
  if (link === undefined) return undefined
  const limit = hardLimit(link, rw)
  if (bytes / seconds <= limit) return undefined
  const { gen, width, mps } = link
  return `${formatRate(bytes, seconds * 1e9)} exceeds the limit of Gen${gen} x${width} at MPS ${mps} (${formatRate(limit, 1e9)}): the time is wrong`
}

function counterProblem(
  counted: Counted,
  sentCommands: number | undefined,
  bytes: number,
  rw: Shape['rw'],
): string | undefined {
  if (sentCommands === undefined) return shortfall(counted, bytes)
  const differs = disagreement(counted, { commands: sentCommands, bytes }, rw)
  return differs === undefined ? undefined : `${differs}: the measurement does not match the drive's work`
}

/**
 * Returns the upper limit of the rate on a link in bytes/s, with the smallest possible headers. Data of writes arrive
 * as completions, which have less overhead than the packets of reads.
 */
export function hardLimit(link: Link, rw: Shape['rw']): number {
  const { gen, width, mps } = link
  const upstream = payloadLimit({ ...link, headerBytes: 12 })
  const downstream = (lineRate({ gen, width }) * mps) / completionWireBytes(mps, { mps })
  switch (rw) {
    case 'read':
      return upstream
    case 'write':
      return downstream
    case 'mixed':
      return upstream + downstream
  }
}
