import { mayRetry, type Status } from '@gpunvme/nvme-spec'
import type { AbortSignalLike, Clock } from '@gpunvme/nvme-spec/transport'
import { NS_PER_MS } from '../wait.js'

/** How often a command is sent again after a status that allows it. */
export const MOST_RETRIES = 4

/** How often a command is sent again after a recovery. Each time the recovery begins one step higher. */
export const MOST_REPLAYS = 2

/** Before the first retry of what is to be retried later, where the controller states no time of its own; then twice as long. */
const FIRST_DELAY_NS = 10 * NS_PER_MS

/** A controller may state up to 6553.5 s; nobody waits that long for a block. */
const LONGEST_DELAY_NS = 10_000 * NS_PER_MS

/**
 * How long to wait before a command that ended with `status` is sent again, in nanoseconds; undefined where it is not.
 * @param retry how often it was sent again before.
 * @param delaysNs CRDT1 to CRDT3 of the controller.
 */
export function retryDelayNs(
  status: Status,
  retry: number,
  delaysNs: readonly [number, number, number],
): number | undefined {
  if (retry >= MOST_RETRIES) return undefined
  const how = mayRetry(status)
  // There is no other path here: whoever has one decides about it.
  if (how === undefined || how === 'other-path') return undefined
  const { crd = 0 } = status
  if (crd !== 0) return Math.min(delaysNs[crd - 1] ?? 0, LONGEST_DELAY_NS)
  return how === 'later' ? FIRST_DELAY_NS * 2 ** retry : 0
}

/** Lets time pass. Ends early when the signal is aborted. */
export async function delay(clock: Clock, ns: number, signal?: AbortSignalLike): Promise<void> {
  const untilNs = clock.now() + ns
  while (clock.now() < untilNs && signal?.aborted !== true) await clock.idle(untilNs)
}
