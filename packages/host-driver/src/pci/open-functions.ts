import { DeviceHeldError } from '../guard/guard.js'
import type { PciFunction } from './function.js'

/** Current uses of functions by this process, by their directory in sysfs: the guard checks other processes only. */
const claimed = new Map<string, string>()

/**
 * Claims a function for one use in this thread: a transport, or a change of its driver.
 * @param use reported to a second claimant.
 * @returns a function that ends the claim.
 * @throws DeviceHeldError while there is another claim.
 */
export function claimFunction({ bdf, path }: Pick<PciFunction, 'bdf' | 'path'>, use: string): () => void {
  const other = claimed.get(path)
  if (other !== undefined) throw new DeviceHeldError(bdf, [{ device: bdf, use: other }])
  claimed.set(path, use)
  let isClaimed = true
  return () => {
    if (isClaimed) claimed.delete(path)
    isClaimed = false
  }
}

/** Use by a transport. */
export const OPEN_HERE = 'driven from user space: this process has it open already'
