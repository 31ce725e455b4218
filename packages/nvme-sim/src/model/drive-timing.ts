import type { ThermalThrottle } from '@gpunvme/nvme-spec/transport'
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

/** @throws RangeError for figures that no drive could have. */
export function checkTiming(timing: DriveTiming): void {
  const { mediaUnits, commandNs, adminNs, readBytesPerSecond, writeBytesPerSecond, thermal } = timing
  check('mediaUnits', Number.isInteger(mediaUnits) && mediaUnits >= 1, 'a whole number of 1 or more', mediaUnits)
  const { readSetupNs = 0, writeSetupNs = 0 } = timing
  for (const [name, ns] of Object.entries({ commandNs, adminNs, readSetupNs, writeSetupNs }))
    check(name, ns >= 0 && ns < Infinity, '0 or more', ns)
  for (const [name, rate] of Object.entries({ readBytesPerSecond, writeBytesPerSecond }))
    check(name, rate > 0, 'more than 0', rate)
  const { readNs, writeNs, flushNs, deallocateNs, controllerNs } = timing
  for (const [name, latency] of Object.entries({ readNs, writeNs, flushNs, deallocateNs, controllerNs })) {
    const isRising = latency?.every((ns, i) => ns < Infinity && ns >= (i === 0 ? 0 : latency[i - 1]!)) ?? true
    check(name, isRising, 'quantiles of 0 or more that never fall', latency)
  }
  if (thermal === undefined) return
  const { factor, limitBytes, recoveredBytes, coolingBytesPerSecond } = thermal
  const isSound = factor >= 1 && factor < Infinity && limitBytes > 0 && coolingBytesPerSecond >= 0
  check('thermal', isSound && recoveredBytes >= 0 && recoveredBytes < limitBytes, 'recovery below the limit', thermal)
}

function check(name: string, isSound: boolean, expected: string, got: unknown): void {
  if (!isSound) throw new RangeError(`${name}: expected ${expected}, got ${JSON.stringify(got)}`)
}
