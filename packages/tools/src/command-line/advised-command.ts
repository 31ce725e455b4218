import { resolve } from 'node:path'
import { userInfo } from 'node:os'
import type { Session } from './session.js'
import type { Io } from '../terminal/io.js'
import type { Action, CommandStep } from './next-step.js'
import { shellLine } from '../terminal/invocation.js'
import { ToolsError } from './tools-error.js'

/** Returns a command for the machine below `root`. */
export function commandFor(root: string, ...words: readonly (string | readonly string[])[]): CommandStep {
  return { command: [...words.flat(), ...(isLive(root) ? [] : ['--root', root])] }
}

/** Returns a command for a machine itself: for a copy, on the machine that was copied. */
export function onMachine(root: string, ...words: readonly string[]): CommandStep {
  return { command: words, isElsewhere: !isLive(root) }
}

/**
 * Marks an action as one for the copied machine, if `root` is a copy. Commands of this program are marked on their own.
 */
export function whereItIs(root: string, action: Action): Action {
  if (isLive(root)) return action
  if (typeof action === 'string') return { words: [action], isElsewhere: true }
  return 'words' in action ? { ...action, isElsewhere: true } : action
}

/** Whether the files below `root` are those of this machine. */
export function isLive(root: string): boolean {
  return resolve(root) === '/'
}

/** Returns the user and the command line, which are recorded with a drive that the command binds. */
export function callerOf({ argv, io }: Pick<Session, 'argv' | 'io'>): {
  readonly user: string
  readonly command: string
} {
  return { user: userName(io), command: shellLine(['gpunvme', ...argv]) }
}

/** Returns the user who called sudo, otherwise the user of this process. */
function userName({ env }: Pick<Io, 'env'>): string {
  const { SUDO_USER: behind } = env
  if (behind !== undefined && behind !== '') return behind
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown') // an id without a name, as in containers
  }
}

/**
 * @param change what the command changes, for the error.
 * @throws ToolsError (NOT_ROOT) if the command changes this machine and does not run as root.
 */
export function requireRoot(
  root: string,
  { argv, io }: Pick<Session, 'argv' | 'io'>,
  change = 'change the driver of a drive',
): void {
  if (isLive(root) && !io.isRoot)
    throw new ToolsError('ERR_GPUNVME_NOT_ROOT', 'privilege', `Only root may ${change}`, {
      next: { command: argv, asRoot: true },
    })
}
