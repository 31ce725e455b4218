import type { Link } from '@gpunvme/nvme-spec/pcie'
import type { BenchRepeat } from '../report/bench-results.js'
import { formatRate } from '../terminal/units.js'
import { hardLimit } from './limits.js'
import type { Shape } from './shape.js'
import { countedBy, disagreement, shortfall, type Counted } from './smart.js'

/** What speaks for a repeat, beside its own numbers. */
export interface Evidence {
  /** Commands that the driver sent, those included that it sent again. Undefined for a baseline, whose kernel splits. */
  readonly sentCommands: number | undefined
  /** What the engine itself counted; undefined where nobody counts. */
  readonly engineCommands: number | undefined
  /** What is wrong with the bytes that were looked at; undefined where they are right, or nobody looked. */
  readonly wrongBytes: string | undefined
}

/** Why a repeat is not to be believed; undefined where everything agrees. */
export function problemOf(
  repeat: Pick<BenchRepeat, 'bytes' | 'commands' | 'seconds' | 'counters'>,
  { sentCommands, engineCommands, wrongBytes }: Evidence,
  rw: Shape['rw'],
  link: Link | undefined,
): string | undefined {
  const { bytes, commands, seconds, counters } = repeat
  if (commands === 0) return 'no command completed'
  if (engineCommands !== undefined && engineCommands < commands) {
    return `the engine executed ${engineCommands} commands, and reports ${commands} as done`
  }
  const miscounted =
    counters === undefined ? undefined : counterProblem(countedBy(counters, rw), sentCommands, bytes, rw)
  if (miscounted !== undefined) return miscounted
  if (wrongBytes !== undefined) return wrongBytes
  if (link === undefined) return undefined
  const limit = hardLimit(link, rw)
  if (bytes / seconds <= limit) return undefined
  const { gen, width, mps } = link
  return `${formatRate(bytes, seconds * 1e9)} is more than Gen${gen} x${width} can carry at MPS ${mps} (${formatRate(limit, 1e9)}): the time is wrong`
}

function counterProblem(
  counted: Counted,
  sentCommands: number | undefined,
  bytes: number,
  rw: Shape['rw'],
): string | undefined {
  if (sentCommands === undefined) return shortfall(counted, bytes)
  const differs = disagreement(counted, { commands: sentCommands, bytes }, rw)
  return differs === undefined ? undefined : `${differs}: what was timed is not what the drive did`
}
