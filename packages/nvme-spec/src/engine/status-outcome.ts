import { CQE } from '../cqe.js'
import type { Outcome } from '../transport.js'

/** Converts the 15 bits of a completion's Status field, without the phase tag (Base 2.1 §4.2.3), to an outcome. */
export function statusOutcome(status15: number): Extract<Outcome, { kind: 'status' }> {
  const { SC, SCT, M, DNR, CRD } = CQE.STATUS
  const word = status15 << 1
  return {
    kind: 'status',
    sc: SC.of(word),
    sct: SCT.of(word),
    crd: CRD.of(word),
    more: M.of(word) === 1,
    dnr: DNR.of(word) === 1,
  }
}
