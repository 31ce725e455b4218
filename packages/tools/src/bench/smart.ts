import type { SmartLog } from '@gpunvme/host-driver'
import type { BenchCounters, BenchRepeat } from '../report/bench-results.js'
import type { Shape } from './shape.js'

/** Zero degrees Celsius in SMART's whole kelvins. */
const ZERO_CELSIUS_KELVINS = 273
/** Bytes per data unit: 1,000 times 512 (Base 2.1 §5.1.12.1.3). */
const DATA_UNIT_BYTES = 512_000

/** Returns the SMART data of a repeat: counters, temperature, throttled time. */
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
    // A drive whose counters are zero may not count at all.
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

/** Increase of the drive's counters. */
export interface Counted {
  readonly commands: number
  readonly bytes: number
}

/** Returns the reads or writes counted between two SMART logs. */
export function countedBy({ before, after }: NonNullable<BenchRepeat['counters']>, rw: Shape['rw']): Counted {
  const [commands, units] =
    rw === 'write'
      ? (['hostWriteCommands', 'dataUnitsWritten'] as const)
      : (['hostReadCommands', 'dataUnitsRead'] as const)
  const grown = (name: keyof BenchCounters) => Number(BigInt(after[name]) - BigInt(before[name]))
  return { commands: grown(commands), bytes: grown(units) * DATA_UNIT_BYTES }
}

/** Tolerated relative difference in commands: a drive may count internal ones. */
export const COMMANDS_TOLERANCE = 0.01
/** The same for bytes, in addition to two units of rounding. */
export const BYTES_TOLERANCE = 0.01

/** Returns the difference between the drive's counters and the host's; undefined within the tolerances. */
export function disagreement(counted: Counted, asked: Counted, rw: Shape['rw']): string | undefined {
  const verb = rw === 'write' ? 'Write' : 'Read'
  if (Math.abs(counted.commands - asked.commands) > Math.max(1, COMMANDS_TOLERANCE * asked.commands)) {
    return `SMART counts ${counted.commands} ${verb} commands, but ${asked.commands} were sent`
  }
  const slackBytes = 2 * DATA_UNIT_BYTES + BYTES_TOLERANCE * asked.bytes
  if (Math.abs(counted.bytes - asked.bytes) > slackBytes) {
    return `SMART counts ${counted.bytes / DATA_UNIT_BYTES} data units, but ${asked.bytes} bytes (${Math.ceil(asked.bytes / DATA_UNIT_BYTES)} units) were moved`
  }
  return undefined
}

/**
 * Checks baselines, whose commands are unknown: the drive must have read at least the bytes that arrived. Undefined if
 * it has.
 */
export function shortfall(counted: Counted, arrivedBytes: number): string | undefined {
  if (counted.bytes >= arrivedBytes * (1 - BYTES_TOLERANCE) - DATA_UNIT_BYTES) return undefined
  return `SMART counts ${counted.bytes / DATA_UNIT_BYTES} data units, but ${arrivedBytes} bytes (${Math.ceil(arrivedBytes / DATA_UNIT_BYTES)} units) arrived: some came from elsewhere, for example a cache`
}
