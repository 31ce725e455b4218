import type { ThermalThrottle } from '@gpunvme/nvme-spec/transport'
import { number, optional, record, whole, type Field, type Fields } from '../options.js'
import type { LatencyNs } from './latency.js'

/** Media work of a command: 'none' if the controller completes it by itself. */
export type MediaWork = 'read' | 'write' | 'flush' | 'deallocate' | 'none'

/** Internal costs of a drive. All zero, with rates of Infinity, is a drive without costs. */
export interface DriveTiming {
  /** The controller's work, one command after the other. Its inverse limits commands per second. */
  readonly commandNs: number
  /** Additional time of a command in the controller, in parallel. Default: none. */
  readonly controllerNs?: LatencyNs
  /** From the start of an Admin command to its completion. */
  readonly adminNs: number
  /** Time until a command's first byte can be read from the media, or the cache has taken the command's data. */
  readonly readNs: LatencyNs
  readonly writeNs: LatencyNs
  readonly flushNs: LatencyNs
  /** Time until blocks are deallocated. Default: that of a Write. */
  readonly deallocateNs?: LatencyNs
  /** Commands that the media processes in parallel. */
  readonly mediaUnits: number
  /** Sustained rate of the drive, independent of its link. */
  readonly readBytesPerSecond: number
  readonly writeBytesPerSecond: number
  /** Fixed cost of each transfer on its data path. Default: 0. */
  readonly readSetupNs?: number
  readonly writeSetupNs?: number
  /** Thermal throttling; absent for a drive that does not overheat. */
  readonly thermal?: ThermalThrottle
}

const MAX_NS = 1e15

/** Times that are summed often, below 2^53: eleven days. */
export const nanoseconds = number((ns) => ns >= 0 && ns <= MAX_NS, '0 to 1e15 nanoseconds')
const rate = number((bytesPerSecond) => bytesPerSecond >= 1, '1 byte a second or more, or Infinity')
const quantiles: Field = {
  expected: 'five quantiles in nanoseconds, 0 to 1e15, in ascending order',
  type: 'object',
  isFit: (value) =>
    Array.isArray(value) &&
    value.length === 5 &&
    value.every((ns, i) => nanoseconds.isFit(ns) && (i === 0 || ns >= value[i - 1])),
}
const amount = number((value) => value >= 0 && value < Infinity, 'a number of 0 or more')

/** Valid values of each figure of a drive. */
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
