import {
  type Stats,
  closeSync,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  write,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { FileError, isSystemError } from '../command-line/file-error.js'
import { UsageError } from '../command-line/tools-error.js'

/**
 * A file that is published atomically: it is written in the same directory and renamed at the end. The previous file
 * stays until then; its mode and, for root, its owner are preserved.
 */
export class WholeFile {
  readonly path: string
  private readonly partial: string
  private readonly fd: number
  private readonly atExit: () => void
  private isOpen = true

  /**
   * @param atExit called if the process ends early by a second SIGINT: discards the file, or publishes it as far as it
   * is written. A killed process leaves `.NAME.PID.partial`.
   * @throws FileError; UsageError for a path that cannot be a regular file.
   */
  constructor(path: string, atExit: (file: WholeFile) => void = (file) => file.discard()) {
    this.path = placeOf(path)
    this.partial = join(dirname(this.path), `.${basename(this.path)}.${process.pid}.partial`)
    const before = statSync(this.path, { throwIfNoEntry: false })
    // The new bytes are no more readable than the old ones.
    const mode = before === undefined ? 0o666 : 0o600
    this.fd = this.asked(`create ${path}`, () => openSync(this.partial, 'wx', mode))
    this.atExit = () => atExit(this)
    process.on('exit', this.atExit)
    if (before !== undefined) this.keep(before)
  }

  /** Without set-user-ID, which applied to the old bytes. */
  private keep({ mode, uid, gid }: Stats): void {
    try {
      this.asked(`set the mode of ${this.partial} to that of ${this.path}`, () => {
        if (process.getuid?.() === 0) fchownSync(this.fd, uid, gid)
        fchmodSync(this.fd, mode & 0o777)
      })
    } catch (error) {
      this.discard()
      throw error
    }
  }

  /** Writes all bytes. @throws FileError */
  async write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length;) {
      done += await new Promise<number>((resolve, reject) =>
        write(this.fd, bytes, done, bytes.length - done, null, (error, written) => {
          if (error === null) resolve(written)
          else reject(new FileError(`write ${this.path}`, error))
        }),
      )
    }
  }

  /** Writes all bytes synchronously. @throws FileError */
  writeSync(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      done += this.asked(`write ${this.path}`, () => writeSync(this.fd, bytes, done, bytes.length - done))
    }
  }

  /** Flushes the file and renames it to its path. @throws FileError */
  publish(): void {
    this.asked(`write ${this.path}`, () => {
      fsyncSync(this.fd)
      this.close()
      renameSync(this.partial, this.path)
      syncFolder(dirname(this.path))
    })
  }

  /** Removes the file. Has no effect after publication. */
  discard(): void {
    if (!this.isOpen) return
    this.close()
    rmSync(this.partial, { force: true })
  }

  private close(): void {
    this.isOpen = false
    process.off('exit', this.atExit)
    closeSync(this.fd)
  }

  private asked<T>(attempt: string, use: () => T): T {
    try {
      return use()
    } catch (error) {
      throw isSystemError(error) ? new FileError(attempt, error) : error
    }
  }
}

/**
 * Resolves links, so that the link itself is not replaced. @throws UsageError for an existing path that is not a
 * regular file.
 */
function placeOf(path: string): string {
  if (path === '' || path === '-') {
    throw new UsageError(`Invalid file name: '${path}'`, { next: 'use a name such as blocks.bin' })
  }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return path
  if (!found.isFile()) {
    throw new UsageError(`${path} is ${found.isDirectory() ? 'a directory' : 'not a regular file'}`, {
      next: 'use a regular file, or a new path',
    })
  }
  return realpathSync(path)
}

/** The directory entry must be flushed too. */
function syncFolder(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
