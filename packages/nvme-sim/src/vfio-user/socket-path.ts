import { linkSync, lstatSync, renameSync, statSync, unlinkSync, type Stats } from 'node:fs'
import { connect } from 'node:net'
import { dirname } from 'node:path'
import { GpuNvmeError, type ErrorCategory, type ErrorDetails } from '@gpunvme/nvme-spec'
import { isSystemError } from './limits.js'

/** Maximum length of a socket's path, in bytes (unix(7)). */
const LONGEST_PATH_BYTES = 107

/** Makes room for a socket: removes a stale one. @throws VfioUserSocketError if the socket cannot be created there. */
export async function clearSocketPath(path: string): Promise<void> {
  const bytes = Buffer.byteLength(path)
  if (bytes === 0 || bytes > LONGEST_PATH_BYTES) {
    throw new VfioUserSocketError(path, 'usage', `expected a path of 1 to ${LONGEST_PATH_BYTES} bytes, got ${bytes}`, {
      next: 'use another path',
    })
  }
  const folder = dirname(path)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new VfioUserSocketError(path, 'not-found', `${folder} is not a directory`, {
      next: 'create the directory first',
    })
  }
  const there = lstatSync(path, { throwIfNoEntry: false })
  if (there === undefined) return
  if (!there.isSocket()) {
    throw new VfioUserSocketError(path, 'usage', 'the path exists and is not a socket', {
      next: 'use another path, or remove the file',
    })
  }
  if (await isListenedAt(path)) throw inUse(path)
  removeSocket(path, there)
}

/**
 * Removes a socket, unless it was replaced meanwhile: of two servers that start at once, the second must not remove the
 * socket of the first.
 * @param known result of `lstat`.
 * @throws system errors.
 */
export function removeSocket(path: string, known: Stats): void {
  if (!isSame(lstatSync(path, { throwIfNoEntry: false }), known)) return
  // Checking and removing are two steps, between which it may be replaced. A renamed socket no longer changes.
  const aside = `${path}.${process.pid}.gone`
  try {
    renameSync(path, aside)
  } catch (error) {
    if (isSystemError(error) && error.code === 'ENOENT') return
    throw error
  }
  try {
    if (!isSame(lstatSync(aside), known)) linkSync(aside, path)
  } finally {
    unlinkSync(aside)
  }
}

function isSame(there: Stats | undefined, known: Stats): boolean {
  // An inode number may be reused; its time is not.
  return there?.dev === known.dev && there.ino === known.ino && there.mtimeMs === known.mtimeMs
}

/** Converts an error that kept the server's thread from listening; other errors are returned unchanged. */
export function asSocketError(error: unknown, path: string): unknown {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return error
  const { syscall, code } = error
  if (syscall !== 'bind' && syscall !== 'listen') return error
  if (code === 'EADDRINUSE') return inUse(path, error)
  const category = code === 'EACCES' || code === 'EPERM' ? 'privilege' : 'failure'
  return new VfioUserSocketError(path, category, error.message, { cause: error })
}

function inUse(path: string, cause?: unknown): VfioUserSocketError {
  const next = 'end the server that listens there, or use another path'
  return new VfioUserSocketError(path, 'privilege', 'another process is listening there', { next, cause })
}

function isListenedAt(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve(false)
      // Its queue is full, so it has a listener.
      else if (error.code === 'EAGAIN') resolve(true)
      else if (error.code === 'EACCES')
        reject(new VfioUserSocketError(path, 'privilege', error.message, { cause: error }))
      else reject(error)
    })
  })
}

/** A server cannot listen at its socket. */
export class VfioUserSocketError extends GpuNvmeError {
  override readonly code = 'ERR_GPUNVME_VFIO_USER_SOCKET'
  override readonly category: ErrorCategory
  /** Path of the socket. */
  readonly socket: string

  constructor(socket: string, category: ErrorCategory, why: string, details: ErrorDetails = {}) {
    super(`Cannot listen at ${socket}: ${why}`, details)
    this.socket = socket
    this.category = category
  }
}
