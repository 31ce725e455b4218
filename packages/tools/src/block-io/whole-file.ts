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
import { UsageError } from '../command-line/usage-error.js'

/**
 * A file that is there whole or not at all: it is written beside its place, and moved there at the end. What was there
 * before stays until then, and its mode and, where root writes, its owner stay with the name.
 */
export class WholeFile {
  readonly path: string
  private readonly partial: string
  private readonly fd: number
  private readonly atExit: () => void
  private isOpen = true

  /**
   * @param atExit what becomes of it when the process ends in between, by a second SIGINT: thrown away, or published as
   *   far as it is. A process that is killed leaves it beside its place, as `.NAME.PID.partial`.
   * @throws FileError; UsageError for a place where no regular file can go.
   */
  constructor(path: string, atExit: (file: WholeFile) => void = (file) => file.discard()) {
    this.path = placeOf(path)
    this.partial = join(dirname(this.path), `.${basename(this.path)}.${process.pid}.partial`)
    const before = statSync(this.path, { throwIfNoEntry: false })
    // Nobody reads the new bytes who might not read the old ones.
    const mode = before === undefined ? 0o666 : 0o600
    this.fd = this.asked(`make ${path}`, () => openSync(this.partial, 'wx', mode))
    this.atExit = () => atExit(this)
    process.on('exit', this.atExit)
    if (before !== undefined) this.keep(before)
  }

  /** Not that it runs as its owner (set-user-ID): that was of the old bytes. */
  private keep({ mode, uid, gid }: Stats): void {
    try {
      this.asked(`give ${this.partial} the mode of ${this.path}`, () => {
        if (process.getuid?.() === 0) fchownSync(this.fd, uid, gid)
        fchmodSync(this.fd, mode & 0o777)
      })
    } catch (error) {
      this.discard()
      throw error
    }
  }

  /** Writes all of it. @throws FileError */
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

  /** The same, before it returns. @throws FileError */
  writeSync(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length;) {
      done += this.asked(`write ${this.path}`, () => writeSync(this.fd, bytes, done, bytes.length - done))
    }
  }

  /** It takes its place, and is on the disk. @throws FileError */
  publish(): void {
    this.asked(`write ${this.path}`, () => {
      fsyncSync(this.fd)
      this.close()
      renameSync(this.partial, this.path)
      syncFolder(dirname(this.path))
    })
  }

  /** Nothing is left of it. After it was published, nothing happens. */
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

/** Where a link leads, so that not the link is replaced. @throws UsageError for what is there and is no regular file. */
function placeOf(path: string): string {
  if (path === '' || path === '-') {
    throw new UsageError(`A file needs a name, got '${path}'`, { next: 'a name, such as blocks.bin' })
  }
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return path
  if (!found.isFile()) {
    throw new UsageError(`${path} is ${found.isDirectory() ? 'a directory' : 'not a regular file'}`, {
      next: 'name a regular file, or one that does not exist',
    })
  }
  return realpathSync(path)
}

/** The name of a file is part of its folder, which has to reach the disk too. */
function syncFolder(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
