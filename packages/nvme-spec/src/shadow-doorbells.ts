import { doorbellOffset } from './doorbells.js'
import { checkInteger } from './integer.js'

// Doorbell Buffer Config (Base 2.1 §5.2.5) hands an emulated controller two buffers of host memory, one page each: the
// host writes doorbells into the Shadow Doorbell buffer (PRP1), the controller writes into the EventIdx buffer (PRP2)
// how far it looks by itself. Both have the layout of the doorbell registers, without the registers' base. The page with
// the rows of Figure 486 could not be read: entries stand where QEMU and Linux have them.

/**
 * Byte offset in both buffers of the tail of submission queue `qid` (Base 2.1 §5.2.5).
 * @param dstrd CAP.DSTRD: entries are 2 ^ (2 + dstrd) bytes apart, and 4 bytes long.
 * @throws RangeError for a `qid` beyond 65535 or a `dstrd` beyond 15, TypeError for what is no number.
 */
export function shadowSqTail(qid: number, dstrd: number): number {
  return doorbellOffset(2 * qid, qid, dstrd)
}

/**
 * Byte offset in both buffers of the head of completion queue `qid` (Base 2.1 §5.2.5).
 * @param dstrd CAP.DSTRD: entries are 2 ^ (2 + dstrd) bytes apart, and 4 bytes long.
 * @throws RangeError or TypeError as `shadowSqTail`.
 */
export function shadowCqHead(qid: number, dstrd: number): number {
  return doorbellOffset(2 * qid + 1, qid, dstrd)
}

/**
 * Whether the doorbell register must be written as well, now that a shadow doorbell went from `before` to `after`:
 * when it passed `eventIdx` (Base 2.2 §B.5.1). All three are entry pointers; that the queue wraps is taken into
 * account. The host reads `eventIdx` only after its store to the shadow doorbell is visible to the controller: in the
 * other order each side may miss the other.
 * @throws RangeError for a pointer beyond 65535, TypeError for what is no number.
 */
export function mustRing(before: number, after: number, eventIdx: number): boolean {
  checkInteger('shadow doorbell before', before, 0, 65_535)
  checkInteger('shadow doorbell after', after, 0, 65_535)
  checkInteger('EventIdx', eventIdx, 0, 65_535)
  // Modulo 2^16 rather than the queue's size: a pointer that wrapped took the long way round, and an EventIdx, which
  // lies inside the queue, is on that way exactly if it lies on the short one.
  return ((after - eventIdx - 1) & 0xffff) < ((after - before) & 0xffff)
}
