import { mayRetry, STATUS, type Status } from '@gpunvme/nvme-spec'
import { statusOutcome } from '@gpunvme/nvme-spec/engine'
import { nextTurn } from '@gpunvme/nvme-spec/runtime'
import type { Clock, CommandOutcome, Outcome } from '@gpunvme/nvme-spec/transport'
import type { OverdueCommand } from '../queues/queue-pair.js'
import { NS_PER_MS } from '../wait.js'

/** Maximum number of retries of a command after a retryable status. */
export const MAX_RETRIES = 4

/** Maximum number of replays of a command after a recovery. Each time, the next recovery begins one step higher. */
export const MAX_REPLAYS = 2

/** Delay before the first retry of a "later" status for which the controller states none; it doubles with each retry. */
const FIRST_DELAY_NS = 10 * NS_PER_MS

/** Maximum delay: a controller may request up to 6553.5 s. */
const MAX_DELAY_NS = 10_000 * NS_PER_MS

/** Interval at which a delay checks whether it must end early. */
const POLL_NS = 10 * NS_PER_MS

/** How often a command was sent again. */
export interface Resends {
  /** After a retryable status. */
  retries: number
  /** After a recovery. */
  replays: number
  /** Sum of the delays before its retries, in nanoseconds. */
  delayedNs: number
}

/** What determines whether a command is sent again. */
export interface ResendPolicy {
  /** Whether the command may be executed twice: it changes nothing, or nothing more the second time. */
  readonly isRepeatable: boolean
  /** Limit of the sum of its delays, in nanoseconds: the time limit of the command. */
  readonly timeoutNs: number
  /** CRDT1 to CRDT3 of the controller, in nanoseconds. */
  readonly retryDelaysNs: readonly [number, number, number]
}

/** How a command is sent again. */
export interface Resend {
  readonly as: 'retry' | 'replay' | 'first'
  readonly afterNs: number
}

/**
 * Decides whether a command that did not succeed is sent again, after the recovery that its outcome required; returns
 * undefined if not. Plans and single commands share this policy:
 * - A retryable status is retried, at most `MAX_RETRIES` times, after the delay that the controller requests.
 * - A command without a completion is replayed if it is repeatable, at most `MAX_REPLAYS` times.
 * - A command that was never submitted is submitted.
 */
export function resendOf(
  found: Exclude<Outcome, { kind: 'success' }>,
  resends: Resends,
  { isRepeatable, timeoutNs, retryDelaysNs }: ResendPolicy,
): Resend | undefined {
  if (found.kind === 'not-submitted') return { as: 'first', afterNs: 0 }
  if (found.kind !== 'status') {
    if (!isRepeatable || resends.replays >= MAX_REPLAYS) return undefined
    resends.replays++
    return { as: 'replay', afterNs: 0 }
  }
  const afterNs = retryDelayNs(found, resends.retries, retryDelaysNs, timeoutNs - resends.delayedNs)
  if (afterNs === undefined) return undefined
  resends.retries++
  resends.delayedNs += afterNs
  return { as: 'retry', afterNs }
}

/**
 * Returns the delay before a command that ended with `status` is sent again, in nanoseconds; undefined if it is not.
 * @param retries number of earlier retries.
 * @param delaysNs CRDT1 to CRDT3 of the controller.
 * @param leftNs rest of the time limit of the command: a longer delay is cut short, and it is not sent after it.
 */
export function retryDelayNs(
  status: Status,
  retries: number,
  delaysNs: readonly [number, number, number],
  leftNs: number,
): number | undefined {
  if (retries >= MAX_RETRIES || leftNs <= 0) return undefined
  const how = mayRetry(status)
  // There is no other path here; a multipath host decides about it.
  if (how === undefined || how === 'other-path') return undefined
  const { crd = 0 } = status
  if (crd !== 0) return Math.min(delaysNs[crd - 1] ?? 0, MAX_DELAY_NS, leftNs)
  return how === 'later' ? Math.min(FIRST_DELAY_NS * 2 ** retries, leftNs) : 0
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

/**
 * Returns the outcome of a command with its late completion, if there is one. If the command was aborted, by Abort or
 * with its queue, its progress is unknown, so that its outcome stays that of a command without a completion.
 */
export function withLateCompletion(found: CommandOutcome['outcome'], late: OverdueCommand | undefined): Outcome {
  if (late === undefined || !hasCompletedLate(late)) return found
  const { status } = late.completion!
  return status === 0 ? { kind: 'success' } : statusOutcome(status)
}

/** Returns whether a completion came late, and not from an abort: it counts like one in time. */
export function hasCompletedLate({ completion }: OverdueCommand): boolean {
  if (completion === undefined) return false
  const { sct, sc } = statusOutcome(completion.status)
  return !ABORTED.some((row) => row.sct === sct && row.sc === sc)
}

const ABORTED = [
  STATUS.COMMAND_ABORT_REQUESTED,
  STATUS.COMMAND_ABORTED_DUE_TO_SQ_DELETION,
  STATUS.COMMAND_ABORTED_BY_HOST,
]
