import { checkInteger } from './layout/facts.js'

/** Maximum number of blocks of a command: NLB is 16 bits wide and 0's based (NVM 1.2 §3.3.4). */
export const MAX_BLOCKS_PER_COMMAND = 65_536

/**
 * Returns the Maximum Data Transfer Size in bytes: 2 ^ MDTS pages of the controller's minimum page size; `undefined`
 * for an MDTS of 0, which sets no limit (Base 2.1 §5.1.13.2.1, Figure 312). `mpsmin` is CAP.MPSMIN.
 * @throws RangeError if `mdts` is above 255 or `mpsmin` above 15; TypeError if they are not numbers.
 */
export function maxTransferBytes(mdts: number, mpsmin: number): number | undefined {
  checkInteger('MDTS', mdts, 0, 255)
  checkInteger('CAP.MPSMIN', mpsmin, 0, 15)
  return mdts === 0 ? undefined : 2 ** (12 + mpsmin + mdts)
}

/**
 * Returns the memory page size in bytes for CAP.MPSMIN, CAP.MPSMAX or CC.MPS: 2 ^ (12 + mps) (Base 2.1 §3.1.4.1 and
 * §3.1.4.5).
 * @throws RangeError if `mps` is above 15; TypeError if it is not a number.
 */
export function memoryPageBytes(mps: number): number {
  checkInteger('CC.MPS', mps, 0, 15)
  return 2 ** (12 + mps)
}
