import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../command-line/file-error.js'
import { commandNotStartedError } from './run-command.js'

/**
 * Looks up a program as `runCommand` does, before other work.
 * @param path value of PATH. @throws ToolsError (COMMAND_NOT_STARTED)
 */
export function requireProgram(program: string, path: string | undefined): void {
  // Without a PATH, the system has default directories.
  if (path === undefined && !program.includes('/')) return
  const places = program.includes('/') ? [program] : path!.split(':').map((folder) => join(folder || '.', program))
  const refusals = places.map(refusalOf)
  if (refusals.includes(undefined)) return
  throw commandNotStartedError(program, refusals.find((refusal) => refusal?.code === 'EACCES') ?? refusals[0]!)
}

/** Returns why this file cannot be executed; undefined if it can. */
function refusalOf(place: string): NodeJS.ErrnoException | undefined {
  try {
    accessSync(place, constants.X_OK)
    if (statSync(place).isFile()) return undefined
    return Object.assign(new Error(`${place} is not a file`), { code: 'EACCES' })
  } catch (error) {
    if (isSystemError(error)) return error
    throw error
  }
}
