import type { ErrorCategory } from '@gpunvme/nvme-spec/error'
import type { NextStep } from './next-step.js'
import { ToolsError } from './tools-error.js'

interface Refusal {
  readonly words: string
  readonly category: ErrorCategory
  readonly next: string
}

/** What the operating system refuses, by its code. */
const REFUSALS = new Map<string, Refusal>()
for (const [codes, category, words, next] of [
  ['ENOENT ENOTDIR', 'not-found', 'no such file or directory', 'check the spelling; directories have to exist already'],
  ['EACCES EPERM', 'privilege', 'permission denied', 'a directory of yours, or chmod; ls -ld shows who may'],
  ['EROFS', 'privilege', 'the file system is read-only', 'a directory on another one'],
  [
    'EEXIST',
    'privilege',
    'it exists by now, perhaps made by another command',
    'wait for that one, or name another file',
  ],
  ['ENAMETOOLONG', 'usage', 'the name is too long', 'a shorter one'],
  ['EISDIR', 'usage', 'it is a directory', 'name a file in it'],
  ['ENOSPC EDQUOT', 'infeasible', 'no space is left on the disk', 'make room there, or use another disk'],
  ['EFBIG', 'infeasible', 'the file system holds no file of that size', 'use another disk'],
] as const) {
  for (const code of codes.split(' ')) REFUSALS.set(code, { words, category, next })
}

/** The operating system refused something. Its code is in the message, for whoever looks it up. */
export class FileError extends ToolsError {
  readonly code = 'ERR_GPUNVME_FILE'
  readonly category: ErrorCategory
  readonly systemCode: string

  /**
   * @param attempt what was to be done, on which path: 'make the image file x.img'.
   * @param next instead of the usual advice, where a better one is known.
   */
  constructor(attempt: string, cause: NodeJS.ErrnoException, next?: NextStep) {
    const code = cause.code ?? cause.message
    const known = REFUSALS.get(code)
    const advice = next ?? known?.next
    const words = known === undefined ? code : `${known.words} (${code})`
    super(`Cannot ${attempt}: ${words}`, { ...(advice !== undefined && { next: advice }), cause })
    this.category = known?.category ?? 'failure'
    this.systemCode = code
  }
}

/** Runs `use`; what the system refuses in it is said with what was attempted. */
export async function attempting<T>(attempt: string, use: () => Promise<T>, next?: NextStep): Promise<T> {
  try {
    return await use()
  } catch (error) {
    throw isSystemError(error) ? new FileError(attempt, error, next) : error
  }
}

export function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return error instanceof Error && 'syscall' in error && 'code' in error && typeof error.code === 'string'
}
