import { DeviceHeldError } from '../guard/guard.js'
import type { PciFunction } from './function.js'

/** What this process does with functions, by their folder in sysfs: the guard looks at other processes only. */
const claimed = new Map<string, string>()

/**
 * Takes a function for one use at a time, of all in this thread: a transport, or a change of its driver.
 * @param use what a second one is told. @returns what ends the claim.
 * @throws DeviceHeldError while there is another.
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

/** The use of a transport. */
export const OPEN_HERE = 'driven from user space: this process has it open already'
