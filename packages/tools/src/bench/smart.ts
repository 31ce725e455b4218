import type { SmartLog } from '@gpunvme/host-driver'
import type { BenchCounters, BenchRepeat } from '../report/bench-results.js'
import type { Shape } from './shape.js'

/** The zero of Celsius as SMART has it: whole kelvins. */
const ZERO_CELSIUS_KELVINS = 273
/** Bytes of a data unit: a thousand times 512 (Base 2.1 §5.1.12.1.3). */
const DATA_UNIT_BYTES = 512_000

/** A repeat's part of the results that SMART gives: counters, temperature, and how long heat held the drive back. */
export function healthOf(
  before: SmartLog,
  after: SmartLog,
): Pick<BenchRepeat, 'counters' | 'temperatureCelsius' | 'throttledSeconds'> {
  const counts = after.TMT1TC + after.TMT2TC + after.TTTMT1 + after.TTTMT2 > 0
  const throttled = after.TTTMT1 - before.TTTMT1 + (after.TTTMT2 - before.TTTMT2)
  return {
    counters: { before: countersOf(before), after: countersOf(after) },
    // 0: the drive has no sensor.
    ...(after.CTEMP > 0 && { temperatureCelsius: { before: celsius(before), after: celsius(after) } }),
    // A drive that has never counted may not count at all.
    ...(counts && throttled >= 0 && { throttledSeconds: throttled }),
  }
}

function celsius({ CTEMP }: SmartLog): number {
  return CTEMP - ZERO_CELSIUS_KELVINS
}

function countersOf({ DUR, DUW, HRC, HWC }: SmartLog): BenchCounters {
  return {
    dataUnitsRead: String(DUR),
    dataUnitsWritten: String(DUW),
    hostReadCommands: String(HRC),
    hostWriteCommands: String(HWC),
  }
}

/** By how much the drive's own counters went up. */
export interface Counted {
  readonly commands: number
  readonly bytes: number
}

/** What the drive counted between two looks, of reads or of writes. */
export function countedBy({ before, after }: NonNullable<BenchRepeat['counters']>, rw: Shape['rw']): Counted {
  const [commands, units] =
    rw === 'write'
      ? (['hostWriteCommands', 'dataUnitsWritten'] as const)
      : (['hostReadCommands', 'dataUnitsRead'] as const)
  const grown = (name: keyof BenchCounters) => Number(BigInt(after[name]) - BigInt(before[name]))
  return { commands: grown(commands), bytes: grown(units) * DATA_UNIT_BYTES }
}

/** Commands that counter and host may differ by, as a share: a drive may look at some of its own. */
export const COMMANDS_TOLERANCE = 0.01
/** The same for bytes, beside the two units that rounding up at both looks makes. */
export const BYTES_TOLERANCE = 0.01

/** What counters and host disagree about, in words; undefined where they agree within the tolerances. */
export function disagreement(counted: Counted, asked: Counted, rw: Shape['rw']): string | undefined {
  const verb = rw === 'write' ? 'Write' : 'Read'
  if (Math.abs(counted.commands - asked.commands) > Math.max(1, COMMANDS_TOLERANCE * asked.commands)) {
    return `SMART counts ${counted.commands} ${verb} commands, and ${asked.commands} were sent`
  }
  const slackBytes = 2 * DATA_UNIT_BYTES + BYTES_TOLERANCE * asked.bytes
  if (Math.abs(counted.bytes - asked.bytes) > slackBytes) {
    return `SMART counts ${counted.bytes / DATA_UNIT_BYTES} data units, and ${asked.bytes} bytes (${Math.ceil(asked.bytes / DATA_UNIT_BYTES)} units) were moved`
  }
  return undefined
}

/** For who cannot know what was sent: the drive cannot have read less than what arrived. Undefined where it has not. */
export function shortfall(counted: Counted, arrivedBytes: number): string | undefined {
  if (counted.bytes >= arrivedBytes * (1 - BYTES_TOLERANCE) - DATA_UNIT_BYTES) return undefined
  return `SMART counts ${counted.bytes / DATA_UNIT_BYTES} data units, and ${arrivedBytes} bytes (${Math.ceil(arrivedBytes / DATA_UNIT_BYTES)} units) arrived: they came from somewhere else`
}
