import { CQE } from '../cqe.js'
import type { Outcome } from '../transport.js'

/** The 15 bits of a completion's Status field, the phase tag shifted out (Base 2.1 §4.2.3), as an outcome. */
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
