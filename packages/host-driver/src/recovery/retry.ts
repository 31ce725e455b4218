import { mayRetry, type Status } from '@gpunvme/nvme-spec'
import type { Clock } from '@gpunvme/nvme-spec/transport'
import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import { NS_PER_MS } from '../wait.js'

/** Maximum number of retries of a command after a retryable status. */
export const MOST_RETRIES = 4

/** Maximum number of replays of a command after a recovery. Each time, the next recovery begins one step higher. */
export const MOST_REPLAYS = 2

/**
 * Delay before the first retry of a "later" status for which the controller states none; it doubles with each retry.
 */
const FIRST_DELAY_NS = 10 * NS_PER_MS

/** Maximum delay: a controller may request up to 6553.5 s. */
const LONGEST_DELAY_NS = 10_000 * NS_PER_MS

/** Interval at which a delay checks whether it must end early. */
const POLL_NS = 10 * NS_PER_MS

/**
 * Returns the delay before a command that ended with `status` is sent again, in nanoseconds; undefined if it is not.
 * @param retry number of earlier retries.
 * @param delaysNs CRDT1 to CRDT3 of the controller.
 * @param leftNs rest of the time limit of the command: a longer delay is cut short, and it is not sent after it.
 */
export function retryDelayNs(
  status: Status,
  retry: number,
  delaysNs: readonly [number, number, number],
  leftNs: number,
): number | undefined {
  if (retry >= MOST_RETRIES) return undefined
  if (leftNs <= 0) return undefined
  const how = mayRetry(status)
  // There is no other path here; a multipath host decides about it.
  if (how === undefined || how === 'other-path') return undefined
  const { crd = 0 } = status
  if (crd !== 0) return Math.min(delaysNs[crd - 1] ?? 0, LONGEST_DELAY_NS, leftNs)
  return how === 'later' ? Math.min(FIRST_DELAY_NS * 2 ** retry, leftNs) : 0
}

/** Waits for `ns`; ends early if `isOver` returns true. */
export async function delay(clock: Clock, ns: number, isOver: () => boolean): Promise<void> {
  const untilNs = clock.now() + ns
  while (clock.now() < untilNs && !isOver()) {
    await clock.idle(Math.min(untilNs, clock.now() + POLL_NS))
    // A virtual clock may return at once; the caller of close() needs a turn nevertheless.
    await nextTurn()
  }
}
