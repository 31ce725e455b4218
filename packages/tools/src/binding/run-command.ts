import type { ErrorCategory } from '@gpunvme/nvme-spec/error'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { printable } from '../terminal/printable.js'
import { ToolsError } from '../command-line/tools-error.js'

/** What a terminal sends to every program that runs on it. */
const OF_THE_TERMINAL: readonly NodeJS.Signals[] = ['SIGINT', 'SIGHUP']

/**
 * Runs a command to its end, with this process's input and output. Signals that reach this process reach the command too.
 * @param onStarted is told its process id.
 * @returns its exit status, as a shell gives it: 128 and the signal's number of one that was killed.
 * @throws CommandNotStartedError
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
      child.on('error', (error: NodeJS.ErrnoException) => reject(new CommandNotStartedError(program, error)))
      child.on('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]))
    })
  } finally {
    for (const { signal, forward } of forwarded) process.off(signal, forward)
  }
}

/** Whether this process is one of those that its terminal sends signals to (proc(5), stat: pgrp 5, tpgid 8). */
function isOnTerminal(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return group === foreground
  } catch {
    return false // without /proc nobody can know: a signal too many is better than one too few
  }
}

const WORDS: Readonly<Record<string, string>> = { ENOENT: 'no such program', EACCES: 'permission denied' }

/** The command never ran. */
export class CommandNotStartedError extends ToolsError {
  readonly code = 'ERR_GPUNVME_COMMAND_NOT_STARTED'
  readonly category: ErrorCategory
  constructor(program: string, cause: NodeJS.ErrnoException) {
    const { code = cause.message } = cause
    const words = WORDS[code]
    super(`Cannot run ${printable(program)}: ${words === undefined ? code : `${words} (${code})`}`, {
      next: 'check the spelling, and that it is on PATH (sudo has a PATH of its own)',
      cause,
    })
    this.category = cause.code === 'ENOENT' ? 'not-found' : cause.code === 'EACCES' ? 'privilege' : 'failure'
  }
}
