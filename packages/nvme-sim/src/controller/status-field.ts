import { CQE, STATUS, type StatusCode } from '@gpunvme/nvme-spec'
import type { Ended } from './command.js'

// The Status field: the upper half of CQE DW3, whose lowest bit is the Phase Tag (Base 2.1 §4.2.3).

const SC_LSB = CQE.STATUS.SC.lsb
const SCT_LSB = CQE.STATUS.SCT.lsb
const DO_NOT_RETRY = 1 << CQE.STATUS.DNR.lsb

/** Returns Status Code and Status Code Type at their position in the Status field. */
export function statusCodeBits({ sct, sc }: Pick<StatusCode, 'sct' | 'sc'>): number {
  return (sc << SC_LSB) | (sct << SCT_LSB)
}

/** Returns the Status field of a completion. Do Not Retry is set if a retry would fail the same way. */
export function statusField(status: Ended): number {
  const isForGood = status.retry === 'never' && status !== STATUS.SUCCESS
  return statusCodeBits(status) | (isForGood ? DO_NOT_RETRY : 0)
}
