import { spawn } from 'node:child_process'
import { accessSync, constants as modes, readFileSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { printable } from '../terminal/printable.js'
import { ToolsError } from '../command-line/tools-error.js'
import { join } from 'node:path'
import { isSystemError } from '../command-line/file-error.js'

/** Signals that a terminal sends to all its programs. */
const OF_THE_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGHUP']

/**
 * Runs a command with this process's input and output. Signals to this process are forwarded.
 * @param onStarted called with the command's process id.
 * @returns its exit status, as in a shell: 128 plus the signal number if it was killed.
 * @throws ToolsError (COMMAND_NOT_STARTED)
 */
export async function runCommand(
  words: readonly [string, ...string[]],
  onStarted: (pid: number) => void,
): Promise<number> {
  const [program, ...args] = words
  const child = spawn(program, args, { stdio: 'inherit' })
  const forwarded = (['SIGTERM', ...(isOnTerminal() ? [] : OF_THE_TERMINAL)] as NodeJS.Signals[]).map((signal) => ({
    signal,
    forward: () => void child.kill(signal),
  }))
  for (const { signal, forward } of forwarded) process.on(signal, forward)
  try {
    return await new Promise<number>((resolve, reject) => {
      child.on('spawn', () => onStarted(child.pid!))
      child.on('error', (error: NodeJS.ErrnoException) => reject(commandNotStartedError(program, error)))
      child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]))
    })
  } finally {
    for (const { signal, forward } of forwarded) process.off(signal, forward)
  }
}

/** Returns whether the terminal sends signals to this process (proc(5), stat: pgrp 5, tpgid 8). */
function isOnTerminal(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return group === foreground
  } catch {
    return false // unknown without /proc: a duplicate signal is better than none
  }
}

const WORDS: Readonly<Record<string, string>> = { ENOENT: 'no such program', EACCES: 'permission denied' }

/** Error of a command that was not started. */
export function commandNotStartedError(program: string, cause: NodeJS.ErrnoException): ToolsError {
  const { code = cause.message } = cause
  const words = WORDS[code]
  const headline = `Cannot run ${printable(program)}: ${words === undefined ? code : `${words} (${code})`}`
  const category = cause.code === 'ENOENT' ? 'not-found' : cause.code === 'EACCES' ? 'privilege' : 'failure'
  const next = 'check the spelling and PATH (sudo uses another PATH)'
  return new ToolsError('ERR_GPUNVME_COMMAND_NOT_STARTED', category, headline, { next, cause })
}

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
    accessSync(place, modes.X_OK)
    if (statSync(place).isFile()) return undefined
    return Object.assign(new Error(`${place} is not a file`), { code: 'EACCES' })
  } catch (error) {
    if (isSystemError(error)) return error
    throw error
  }
}
