import { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { resolve } from 'node:path'
import { userInfo } from 'node:os'
import type { Session } from '../program.js'
import type { Io } from '../terminal/io.js'

/** A command of this program as it is typed, for the machine below `root`. */
export function commandFor(root: string, ...words: readonly (string | readonly string[])[]): string {
  return shellLine(['gpunvme', ...words.flat(), ...(isLive(root) ? [] : ['--root', root])])
}

/** A command line that acts on the machine itself; of a copy it is said that it is for the machine that was copied. */
export function onMachine(root: string, line: string): string {
  return isLive(root) ? line : `on that machine: ${line}`
}

/** Words as a shell takes them. */
export function shellLine(words: readonly string[]): string {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(' ')
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
    return String(process.getuid?.() ?? 'unknown') // a number that no list of users has, as in containers
  }
}

/**
 * @param words of the command line, after the program's name. @param change what they ask for.
 * @throws NotRootError on this machine, for who is not root.
 */
export function requireRoot(root: string, words: readonly string[], change = 'change the driver of a drive'): void {
  if (isLive(root) && process.getuid?.() !== 0) throw new NotRootError(words, change)
}

/** Drivers are changed by root alone. Nothing was touched. */
export class NotRootError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NOT_ROOT'
  readonly category = 'privilege'
  constructor(words: readonly string[], change: string) {
    super(`Only root may ${change}`, {
      // sudo has a PATH of its own, in which programs of npm seldom are.
      next: `sudo env "PATH=$PATH" ${shellLine(['gpunvme', ...words])}`,
    })
  }
}
