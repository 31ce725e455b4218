import { statfs } from 'node:fs/promises'
import { attempting } from '../command-line/file-error.js'
import { formatBytes } from '../terminal/units.js'
import { ToolsError } from '../command-line/tools-error.js'
import type { NextStep } from '../command-line/next-step.js'

/**
 * @param directory directory of the new file.
 * @throws NotEnoughSpaceError before anything is written, since a full disk affects other programs.
 */
export async function requireSpace(
  what: string,
  directory: string,
  neededBytes: number,
  next: NextStep,
): Promise<void> {
  const { bavail, bsize } = await attempting(`check the disk of ${directory}`, () => statfs(directory))
  const freeBytes = bavail * bsize
  if (neededBytes > freeBytes) throw new NotEnoughSpaceError(what, directory, neededBytes, freeBytes, next)
}

/** Error of a request that exceeds the free disk space. Nothing was written. */
export class NotEnoughSpaceError extends ToolsError {
  readonly code = 'ERR_GPUNVME_NOT_ENOUGH_SPACE'
  readonly category = 'infeasible'
  constructor(what: string, directory: string, neededBytes: number, freeBytes: number, next: NextStep) {
    super(`${what} would take ${formatBytes(neededBytes)} of disk space`, {
      facts: [`${directory} has ${formatBytes(freeBytes)} free`],
      next,
    })
  }
}
