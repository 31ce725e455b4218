import type { ErrorCategory } from '@gpunvme/nvme-spec/error'
import type { NextStep } from './next-step.js'
import { ToolsError } from './tools-error.js'

interface Refusal {
  readonly words: string
  readonly category: ErrorCategory
  readonly next: string
}

/** Errors of the operating system, by code. */
const REFUSALS = new Map<string, Refusal>()
for (const [codes, category, words, next] of [
  ['ENOENT ENOTDIR', 'not-found', 'no such file or directory', 'check the spelling; the directory must exist'],
  ['EACCES EPERM', 'privilege', 'permission denied', 'use another directory, or chmod; ls -ld shows the permissions'],
  ['EROFS', 'privilege', 'the file system is read-only', 'use a directory on another file system'],
  [
    'EEXIST',
    'privilege',
    'it exists now; another command may have created it',
    'wait for that command, or use another file',
  ],
  ['ENAMETOOLONG', 'usage', 'the name is too long', 'use a shorter name'],
  ['EISDIR', 'usage', 'it is a directory', 'use a file in it'],
  ['ENOSPC EDQUOT', 'infeasible', 'no space left on the disk', 'free space there, or use another disk'],
  ['EFBIG', 'infeasible', 'the file system does not support files of that size', 'use another disk'],
] as const) {
  for (const code of codes.split(' ')) REFUSALS.set(code, { words, category, next })
}

/** Error reported by the operating system. The message contains its code. */
export class FileError extends ToolsError {
  readonly systemCode: string

  /**
   * @param attempt the failed operation with its path: 'create the image file x.img'.
   * @param next replaces the usual advice.
   */
  constructor(attempt: string, cause: NodeJS.ErrnoException, next?: NextStep) {
    const code = cause.code ?? cause.message
    const known = REFUSALS.get(code)
    const words = known === undefined ? code : `${known.words} (${code})`
    const details = { next: next ?? known?.next, cause }
    super('ERR_GPUNVME_FILE', known?.category ?? 'failure', `Cannot ${attempt}: ${words}`, details)
    this.systemCode = code
  }
}

/** Runs `use`; a system error in it becomes a FileError with `attempt`. */
export async function attempting<T>(attempt: string, use: () => Promise<T>, next?: NextStep): Promise<T> {
  try {
    return await use()
  } catch (error) {
    throw isSystemError(error) ? new FileError(attempt, error, next) : error
  }
}

/** Returns what `read` returns; undefined if it throws a system error (with `code`: only that one). */
export function tryRead<T>(read: () => T, code?: string): T | undefined {
  try {
    return read()
  } catch (error) {
    if (isSystemError(error) && (code === undefined || error.code === code)) return undefined
    throw error
  }
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'
}
