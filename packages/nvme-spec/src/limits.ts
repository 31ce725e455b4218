import { checkInteger } from './integer.js'

/** The largest transfer a command may have in blocks: NLB is 16 bits wide and 0's based (NVM 1.2 §3.3.4). */
export const MAX_BLOCKS_PER_COMMAND = 65_536

/**
 * Maximum Data Transfer Size in bytes: 2 ^ MDTS pages of the controller's minimum page size; `undefined` for an
 * MDTS of 0, which sets no limit (Base 2.1 §5.1.13.2.1, Figure 312). `mpsmin` is CAP.MPSMIN.
 * @throws RangeError for an `mdts` beyond 255 or an `mpsmin` beyond 15, TypeError for what is no number.
 */
export function maxTransferBytes(mdts: number, mpsmin: number): number | undefined {
  checkInteger('MDTS', mdts, 0, 255)
  checkInteger('CAP.MPSMIN', mpsmin, 0, 15)
  return mdts === 0 ? undefined : 2 ** (12 + mpsmin + mdts)
}

/**
 * Memory page size in bytes of CAP.MPSMIN, CAP.MPSMAX or CC.MPS: 2 ^ (12 + mps) (Base 2.1 §3.1.4.1 and §3.1.4.5).
 * @throws RangeError for an `mps` beyond 15, TypeError for what is no number.
 */
export function memoryPageBytes(mps: number): number {
  checkInteger('CC.MPS', mps, 0, 15)
  return 2 ** (12 + mps)
}
