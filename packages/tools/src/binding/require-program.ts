import { accessSync, constants, statSync } from 'node:fs'
import { join } from 'node:path'
import { isSystemError } from '../command-line/file-error.js'
import { CommandNotStartedError } from './run-command.js'

/**
 * Looks a program up as `runCommand` will, for who has more to do before it is run.
 * @param path the folders that programs are in. @throws CommandNotStartedError
 */
export function requireProgram(program: string, path: string | undefined): void {
  // Without a PATH the system has folders of its own.
  if (path === undefined && !program.includes('/')) return
  const places = program.includes('/') ? [program] : path!.split(':').map((folder) => join(folder || '.', program))
  const refusals = places.map(refusalOf)
  if (refusals.includes(undefined)) return
  throw new CommandNotStartedError(program, refusals.find((refusal) => refusal?.code === 'EACCES') ?? refusals[0]!)
}

/** Why this file is not one that can be run; undefined where it is. */
function refusalOf(place: string): NodeJS.ErrnoException | undefined {
  try {
    accessSync(place, constants.X_OK)
    if (statSync(place).isFile()) return undefined
    return Object.assign(new Error(`${place} is no file`), { code: 'EACCES' })
  } catch (error) {
    if (isSystemError(error)) return error
    throw error
  }
}
