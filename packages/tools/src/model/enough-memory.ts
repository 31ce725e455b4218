import { totalmem } from 'node:os'
import { formatBytes } from '../terminal/units.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { NextStep } from '../command-line/next-step.js'

/** The rest is for the system and this program. */
const USABLE_SHARE = 0.8

/** @throws ToolsError (NOT_ENOUGH_MEMORY) before anything is allocated, since the kernel might kill the process later. */
export function requireMemory(what: string, neededBytes: number, next: NextStep): void {
  const limit = process.constrainedMemory()
  // Without a limit, some systems report 0 and others a huge number.
  const totalBytes = limit > 0 ? Math.min(limit, totalmem()) : totalmem()
  if (neededBytes > totalBytes * USABLE_SHARE)
    throw new ToolsError(
      'ERR_GPUNVME_NOT_ENOUGH_MEMORY',
      'infeasible',
      `${what} would take ${formatBytes(neededBytes)} of memory`,
      {
        facts: [`this machine has ${formatBytes(totalBytes)}`],
        next,
      },
    )
}
