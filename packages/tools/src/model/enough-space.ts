import { statfs } from 'node:fs/promises'
import { attempting } from '../command-line/file-error.js'
import { formatBytes } from '../terminal/units.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { NextStep } from '../command-line/next-step.js'

/**
 * @param directory directory of the new file.
 * @throws ToolsError (NOT_ENOUGH_SPACE) before anything is written, since a full disk affects other programs.
 */
export async function requireSpace(
  what: string,
  directory: string,
  neededBytes: number,
  next: NextStep,
): Promise<void> {
  const { bavail, bsize } = await attempting(`check the disk of ${directory}`, () => statfs(directory))
  const freeBytes = bavail * bsize
  if (neededBytes > freeBytes)
    throw new ToolsError(
      'ERR_GPUNVME_NOT_ENOUGH_SPACE',
      'infeasible',
      `${what} would take ${formatBytes(neededBytes)} of disk space`,
      {
        facts: [`${directory} has ${formatBytes(freeBytes)} free`],
        next,
      },
    )
}
