import { statusOutcome } from '@gpunvme/nvme-spec/engine'
import { STATUS } from '@gpunvme/nvme-spec'
import type { OverdueCommand } from '../queues/queue-pair.js'

const GIVEN_UP = [
  STATUS.COMMAND_ABORT_REQUESTED,
  STATUS.COMMAND_ABORTED_DUE_TO_SQ_DELETION,
  STATUS.COMMAND_ABORTED_BY_HOST,
]

/** Returns whether a command ended because it was aborted, by Abort or with its queue: its progress is unknown. */
export function wasAborted(status: number): boolean {
  const { sct, sc } = statusOutcome(status)
  return GIVEN_UP.some((row) => row.sct === sct && row.sc === sc)
}

/** Returns whether a completion came late, and not from an abort: it counts like one in time. */
export function completedLate({ completion }: OverdueCommand): boolean {
  return completion !== undefined && !wasAborted(completion.status)
}
