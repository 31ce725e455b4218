import { CQE } from '@gpunvme/nvme-spec'
import type { Outcome } from '@gpunvme/nvme-spec/transport'

/** The Status field of a completion, phase tag shifted out (Base 2.1 §4.2.3), as an outcome. */
export function statusOutcome(status: number): Extract<Outcome, { kind: 'status' }> & { readonly crd: number } {
  const { SC, SCT, M, DNR, CRD } = CQE.STATUS
  const word = status << 1
  return {
    kind: 'status',
    sc: SC.of(word),
    sct: SCT.of(word),
    crd: CRD.of(word),
    more: M.of(word) === 1,
    dnr: DNR.of(word) === 1,
  }
}
