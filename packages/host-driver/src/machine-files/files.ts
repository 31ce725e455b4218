import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { readRegularFileSync } from './regular-file.js'
import { folderOf, resolveInRoot } from './resolve.js'

/** Largest file that is read unless the caller sets another limit. Mount tables of large container hosts have MiB. */
const MAX_BYTES = 64 * 1024 * 1024

/**
 * Reads the files of a machine below a root folder: this machine's ('/'), or a copy of another's, which may be hostile.
 * Below a copy links are resolved as if the copy were the whole file system, so none leads outside. Only regular files
 * are read, without waiting and up to a limit; the files of sysfs and procfs are regular, whatever size they state.
 * A copy must not change meanwhile: Node has no openat2, so links are resolved before the file is opened.
 *
 * Every method throws the errors of the system, ENOENT among them, and MachineFileError.
 */
export class MachineFiles {
  readonly root: string
  private readonly isLive: boolean

  constructor(root: string) {
    this.root = root
    this.isLive = resolve(root) === '/'
  }

  /** The contents of a regular file of at most `maxBytes`. */
  bytes(path: string, maxBytes = MAX_BYTES): Buffer {
    return readRegularFileSync(this.resolve(path), maxBytes)
  }

  text(path: string, maxBytes?: number): string {
    return this.bytes(path, maxBytes).toString('utf8')
  }

  /** The names in a folder. */
  list(path: string): string[] {
    return readdirSync(this.resolve(path))
  }

  /** The target of a link as it is written, not resolved. */
  link(path: string): string {
    return readlinkSync(this.resolveFolder(path))
  }

  exists(path: string): boolean {
    return statSync(this.resolve(path), { throwIfNoEntry: false }) !== undefined
  }

  /**
   * Returns where a path leads, as a path of this process; below a copy no link is left in it. Links of this machine
   * itself are left to the kernel, which alone can follow those of /proc/PID/fd.
   */
  resolve(path: string): string {
    return this.isLive
      ? join('/', path)
      : join(
          this.root,
          resolveInRoot(path, (at) => linkAt(join(this.root, at))),
        )
  }
  /** As `resolve`, for a path whose last name is not followed if it is a link. */
  resolveFolder(path: string): string {
    return join(this.resolve(folderOf(path)), basename(path))
  }
}

/** The target of a link; undefined for anything else, and where there is nothing or it may not be read. */
export function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // opening it fails for the same reason, if it is needed
  }
}
