import type { ErrorCategory } from '@gpunvme/nvme-spec/error'
import { constants, rmSync, type Stats } from 'node:fs'
import { access, open, realpath, stat } from 'node:fs/promises'
import { FileError } from '../command-line/file-error.js'
import type { NextStep } from '../command-line/next-step.js'
import { formatBytes } from '../terminal/units.js'
import { usersOf } from './image-users.js'
import { UsageError, ToolsError } from '../command-line/tools-error.js'

/** Minimum length of a drive: one logical block. */
const MIN_BYTES = 512

/** Returns the file's status; undefined if it does not exist. @throws ImageFileError if it cannot be a drive. */
export async function statImageFile(path: string): Promise<Stats | undefined> {
  if (path === '') throw new UsageError('--image requires the name of a file', { next: 'use --image drive.img' })
  let stats: Stats
  try {
    stats = await stat(path)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    if (code === 'EACCES')
      throw new ImageFileError(path, 'permission denied', 'privilege', `check the permissions with ls -ld ${path}`)
    if (code === 'ENOTDIR') throw new ImageFileError(path, 'no such directory', 'not-found', 'check the spelling')
    throw new FileError(`use ${path} as a drive`, cause as NodeJS.ErrnoException)
  }
  if (stats.isDirectory()) throw new ImageFileError(path, 'it is a directory', 'usage', 'use a file in it')
  if (!stats.isFile()) {
    // Also rejects block devices: writing to one behind the kernel's file systems is not a simulation.
    throw new ImageFileError(path, 'it is not a regular file', 'usage', 'use a regular file, or a new path')
  }
  return stats
}

/** Checks an image file that must exist. */
export async function requireImageFile(path: string, access: 'read' | 'write'): Promise<Stats> {
  const stats = await statImageFile(path)
  if (stats === undefined) {
    throw new ImageFileError(path, 'no such file', 'not-found', { command: ['pack', 'MODEL', '--image', path] })
  }
  if (stats.size < MIN_BYTES) {
    throw new ImageFileError(
      path,
      `${stats.size} bytes are too few for a drive`,
      'infeasible',
      'use another file; pack creates a missing one',
    )
  }
  await requireAccess(path, access)
  return stats
}

async function requireAccess(path: string, kind: 'read' | 'write'): Promise<void> {
  try {
    await access(path, kind === 'read' ? constants.R_OK : constants.R_OK | constants.W_OK)
  } catch {
    throw new ImageFileError(path, `permission to ${kind} denied`, 'privilege', `ls -l ${path}, then chmod`)
  }
}

/**
 * Creates a sparse file of zeros as a drive.
 * @returns a function that removes it, for use after a failure, unless another process has opened it since.
 */
export async function createImageFile(path: string, capacityBytes: number): Promise<() => void> {
  const handle = await openNew(path)
  try {
    await handle.truncate(capacityBytes)
  } catch (cause) {
    rmSync(path, { force: true })
    const { code = '' } = cause as NodeJS.ErrnoException
    throw new ImageFileError(
      path,
      `a file of ${formatBytes(capacityBytes)} is not possible here (${code})`,
      'infeasible',
      'use another disk',
    )
  } finally {
    await handle.close()
  }
  const file = await realpath(path)
  return () => {
    if (usersOf(file).length === 0) rmSync(path, { force: true })
  }
}

async function openNew(path: string) {
  try {
    return await open(path, 'wx')
  } catch (cause) {
    const { code = '' } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT')
      throw new ImageFileError(path, 'no such directory', 'not-found', 'create the directory first')
    if (['EACCES', 'EPERM', 'EROFS'].includes(code)) {
      throw new ImageFileError(path, `it cannot be created here (${code})`, 'privilege', 'choose a writable directory')
    }
    throw new FileError(`create ${path}`, cause as NodeJS.ErrnoException)
  }
}

/** Error of a file for --image that cannot be used as a drive. */
export class ImageFileError extends ToolsError {
  readonly path: string
  constructor(path: string, problem: string, category: ErrorCategory, next: NextStep) {
    super('ERR_GPUNVME_IMAGE_FILE', category, `Cannot use ${path} as a drive: ${problem}`, { next })
    this.path = path
  }
}
