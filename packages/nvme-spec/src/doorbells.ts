/** Where the doorbells begin in BAR0 (PCIe 1.2 §3.1.2). */
export const DOORBELL_BASE = 0x1000

/**
 * Byte offset of SQyTDBL, the tail doorbell of submission queue `qid` (PCIe 1.2 §3.1.2.1).
 * @param dstrd CAP.DSTRD: doorbells are 2 ^ (2 + dstrd) bytes apart.
 */
export function sqTailDoorbell(qid: number, dstrd: number): number {
  return doorbell(2 * qid, qid, dstrd)
}

/** Byte offset of CQyHDBL, the head doorbell of completion queue `qid` (PCIe 1.2 §3.1.2.2). */
export function cqHeadDoorbell(qid: number, dstrd: number): number {
  return doorbell(2 * qid + 1, qid, dstrd)
}

function doorbell(index: number, qid: number, dstrd: number): number {
  if ((qid & 0xffff) !== qid) throw new RangeError(`queue identifier: expected 0 to 65535, got ${qid}`)
  if ((dstrd & 0xf) !== dstrd) throw new RangeError(`CAP.DSTRD: expected 0 to 15, got ${dstrd}`)
  return DOORBELL_BASE + index * 2 ** (2 + dstrd)
}
