import { checkInteger } from './integer.js'
import { bits, word32 } from './layout/index.js'

/** Where the doorbells begin in BAR0, in bytes (PCIe 1.2 §3.1.2). */
export const DOORBELL_BASE = 0x1000

/** What is written to SQyTDBL (PCIe 1.2 Figure 5). A host should not read it. */
export const SQyTDBL = word32(
  'SQyTDBL',
  { doc: 'Submission Queue y Tail Doorbell', spec: 'PCIe 1.2 §3.1.2.1' },
  { SQT: bits(15, 0, 'Submission Queue Tail') },
)

/** What is written to CQyHDBL (PCIe 1.2 Figure 6). A host should not read it. */
export const CQyHDBL = word32(
  'CQyHDBL',
  { doc: 'Completion Queue y Head Doorbell', spec: 'PCIe 1.2 §3.1.2.2' },
  { CQH: bits(15, 0, 'Completion Queue Head') },
)

/**
 * Byte offset in BAR0 of SQyTDBL, the tail doorbell of submission queue `qid` (PCIe 1.2 §3.1.2.1).
 * @param dstrd CAP.DSTRD: doorbells are 2 ^ (2 + dstrd) bytes apart.
 * @throws RangeError for a `qid` beyond 65535 or a `dstrd` beyond 15, TypeError for what is no number.
 */
export function sqTailDoorbell(qid: number, dstrd: number): number {
  return DOORBELL_BASE + doorbellOffset(2 * qid, qid, dstrd)
}

/**
 * Byte offset in BAR0 of CQyHDBL, the head doorbell of completion queue `qid` (PCIe 1.2 §3.1.2.2).
 * @param dstrd CAP.DSTRD: doorbells are 2 ^ (2 + dstrd) bytes apart.
 * @throws RangeError or TypeError as `sqTailDoorbell`.
 */
export function cqHeadDoorbell(qid: number, dstrd: number): number {
  return DOORBELL_BASE + doorbellOffset(2 * qid + 1, qid, dstrd)
}

/** Bytes from the first doorbell to the index-th. @throws RangeError or TypeError as `sqTailDoorbell`. */
export function doorbellOffset(index: number, qid: number, dstrd: number): number {
  checkInteger('queue identifier', qid, 0, 65_535)
  checkInteger('CAP.DSTRD', dstrd, 0, 15)
  return index * 2 ** (2 + dstrd)
}
