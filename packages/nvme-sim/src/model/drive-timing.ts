import type { ThermalThrottle } from '@gpunvme/nvme-spec/transport'
import { number, optional, record, whole, type Field, type Fields } from '../options.js'
import type { LatencyNs } from './latency.js'

/** What a command asks of the media: 'none' for one that the controller answers by itself. */
export type MediaWork = 'read' | 'write' | 'flush' | 'deallocate' | 'none'

/** What a drive's inside costs. All zero, with rates of Infinity, is a drive that costs nothing. */
export interface DriveTiming {
  /** The controller's own work, one command after the other. Its inverse limits commands per second. */
  readonly commandNs: number
  /** What a command spends in the controller beside that, many at a time; nothing when not given. */
  readonly controllerNs?: LatencyNs
  /** From the start of an Admin command to its completion. */
  readonly adminNs: number
  /** Until a command's first byte can be read from the media, or the cache has taken the command's data. */
  readonly readNs: LatencyNs
  readonly writeNs: LatencyNs
  readonly flushNs: LatencyNs
  /** Until blocks are deallocated; as long as a Write when not given. */
  readonly deallocateNs?: LatencyNs
  /** Commands that the media works on at a time. */
  readonly mediaUnits: number
  /** What the drive sustains, whatever its link can carry. */
  readonly readBytesPerSecond: number
  readonly writeBytesPerSecond: number
  /** What each transfer costs its data path beside its bytes; 0 when not given. */
  readonly readSetupNs?: number
  readonly writeSetupNs?: number
  /** When it gets too hot and what it does then; absent for a drive that stays cool. */
  readonly thermal?: ThermalThrottle
}

const MOST_NS = 1e15

/** A time that adds up with others, many times, below 2^53: eleven days. */
export const nanoseconds = number((ns) => ns >= 0 && ns <= MOST_NS, '0 to 1e15 nanoseconds')
const rate = number((bytesPerSecond) => bytesPerSecond >= 1, '1 byte a second or more, or Infinity')
const quantiles: Field = {
  expected: 'five quantiles in nanoseconds, 0 to 1e15, that never fall',
  type: 'object',
  isFit: (value) =>
    Array.isArray(value) &&
    value.length === 5 &&
    value.every((ns, i) => nanoseconds.isFit(ns) && (i === 0 || ns >= value[i - 1])),
}
const amount = number((value) => value >= 0 && value < Infinity, 'a number of 0 or more')

/** What each figure of a drive's inside can be. */
export const timingFields: Fields<DriveTiming> = {
  commandNs: nanoseconds,
  controllerNs: optional(quantiles),
  adminNs: nanoseconds,
  readNs: quantiles,
  writeNs: quantiles,
  flushNs: quantiles,
  deallocateNs: optional(quantiles),
  mediaUnits: whole(1, 65_536),
  readBytesPerSecond: rate,
  writeBytesPerSecond: rate,
  readSetupNs: optional(nanoseconds),
  writeSetupNs: optional(nanoseconds),
  thermal: optional(
    record<ThermalThrottle>(
      {
        factor: number((factor) => factor >= 1 && factor <= 1e6, 'a factor from 1 to 1e6'),
        limitBytes: number((limit) => limit > 0 && limit < Infinity, 'a number above 0'),
        recoveredBytes: amount,
        coolingBytesPerSecond: amount,
      },
      ({ recoveredBytes, limitBytes }, where) => {
        if (recoveredBytes < limitBytes) return
        throw new RangeError(
          `${where}.recoveredBytes: expected less than limitBytes, ${limitBytes}, got ${recoveredBytes}`,
        )
      },
    ),
  ),
}
