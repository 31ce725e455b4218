import type { Outcome } from '@gpunvme/nvme-spec/transport'

/** The Status field of a completion, phase tag shifted out (Base 2.1 §4.2.3), as an outcome. */
export function statusOutcome(status: number): Extract<Outcome, { kind: 'status' }> {
  return {
    kind: 'status',
    sc: status & 0xff,
    sct: (status >>> 8) & 7,
    more: ((status >>> 13) & 1) === 1,
    dnr: ((status >>> 14) & 1) === 1,
  }
}
