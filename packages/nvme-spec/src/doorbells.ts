import { checkInteger } from './layout/facts.js'
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

// Doorbell Buffer Config (Base 2.1 §5.2.5) gives an emulated controller two buffers of host memory, one page each. The
// host writes doorbells into the Shadow Doorbell buffer (PRP1). The controller writes into the EventIdx buffer (PRP2)
// up to which value it polls. Both have the layout of the doorbell registers, without the registers' base. The page
// with the rows of Figure 486 could not be read: entries are where QEMU and Linux have them.

/**
 * Returns the byte offset, in both buffers, of the tail of submission queue `qid` (Base 2.1 §5.2.5).
 * @param dstrd CAP.DSTRD: entries are 2 ^ (2 + dstrd) bytes apart, and 4 bytes long.
 * @throws RangeError if `qid` is above 65535 or `dstrd` above 15; TypeError if they are not numbers.
 */
export function shadowSqTail(qid: number, dstrd: number): number {
  return doorbellOffset(2 * qid, qid, dstrd)
}

/**
 * Returns the byte offset, in both buffers, of the head of completion queue `qid` (Base 2.1 §5.2.5).
 * @param dstrd CAP.DSTRD: entries are 2 ^ (2 + dstrd) bytes apart, and 4 bytes long.
 * @throws RangeError or TypeError as `shadowSqTail`.
 */
export function shadowCqHead(qid: number, dstrd: number): number {
  return doorbellOffset(2 * qid + 1, qid, dstrd)
}

/**
 * Whether the doorbell register must be written too after a shadow doorbell changed from `before` to `after`, which is
 * the case if it passed `eventIdx` (Base 2.2 §B.5.1). All three are entry pointers; wrapping of the queue is taken into
 * account. The host must read `eventIdx` only after its store to the shadow doorbell is visible to the controller: in
 * the other order, each side may miss the other's write.
 * @throws RangeError for a pointer above 65535; TypeError if one is not a number.
 */
export function mustRing(before: number, after: number, eventIdx: number): boolean {
  checkInteger('shadow doorbell before', before, 0, 65_535)
  checkInteger('shadow doorbell after', after, 0, 65_535)
  checkInteger('EventIdx', eventIdx, 0, 65_535)
  // Modulo 2^16, since the queue size is not known here. For a wrapped pointer, the range then also contains the values
  // from the queue size to 65535, which EventIdx never has.
  return ((after - eventIdx - 1) & 0xffff) < ((after - before) & 0xffff)
}
