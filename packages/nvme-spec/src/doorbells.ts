import { checkInteger } from './integer.js'
import { bits, word32 } from './layout/index.js'

/** Byte offset of the first doorbell in BAR0 (PCIe 1.2 §3.1.2). */
export const DOORBELL_BASE = 0x1000

/** Value written to SQyTDBL (PCIe 1.2 Figure 5). Hosts should not read it. */
export const SQyTDBL = word32(
  'SQyTDBL',
  { doc: 'Submission Queue y Tail Doorbell', spec: 'PCIe 1.2 §3.1.2.1' },
  { SQT: bits(15, 0, 'Submission Queue Tail') },
)

/** Value written to CQyHDBL (PCIe 1.2 Figure 6). Hosts should not read it. */
export const CQyHDBL = word32(
  'CQyHDBL',
  { doc: 'Completion Queue y Head Doorbell', spec: 'PCIe 1.2 §3.1.2.2' },
  { CQH: bits(15, 0, 'Completion Queue Head') },
)

/**
 * Returns the byte offset in BAR0 of SQyTDBL, the tail doorbell of submission queue `qid` (PCIe 1.2 §3.1.2.1).
 * @param dstrd CAP.DSTRD: doorbells are 2 ^ (2 + dstrd) bytes apart.
 * @throws RangeError if `qid` is above 65535 or `dstrd` above 15; TypeError if they are not numbers.
 */
export function sqTailDoorbell(qid: number, dstrd: number): number {
  return DOORBELL_BASE + doorbellOffset(2 * qid, qid, dstrd)
}

/**
 * Returns the byte offset in BAR0 of CQyHDBL, the head doorbell of completion queue `qid` (PCIe 1.2 §3.1.2.2).
 * @param dstrd CAP.DSTRD: doorbells are 2 ^ (2 + dstrd) bytes apart.
 * @throws RangeError or TypeError as `sqTailDoorbell`.
 */
export function cqHeadDoorbell(qid: number, dstrd: number): number {
  return DOORBELL_BASE + doorbellOffset(2 * qid + 1, qid, dstrd)
}

/** Returns the bytes from the first doorbell to the index-th. @throws RangeError or TypeError as `sqTailDoorbell`. */
export function doorbellOffset(index: number, qid: number, dstrd: number): number {
  checkInteger('queue identifier', qid, 0, 65_535)
  checkInteger('CAP.DSTRD', dstrd, 0, 15)
  return index * 2 ** (2 + dstrd)
}
