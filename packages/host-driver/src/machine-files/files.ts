import { readdirSync, readlinkSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { readRegularFileSync } from './regular-file.js'
import { folderOf, resolveInRoot } from './resolve.js'

/** Default maximum length of a file. Mount tables of large container hosts take several MiB. */
const MAX_BYTES = 64 * 1024 * 1024

/**
 * Reads the files of a machine below a root folder: this machine ('/'), or a copy of another machine, which may be hostile.
 * In a copy, symbolic links are resolved as if the copy were the whole file system, so no link leads outside. Reads only
 * regular files, without blocking and up to a limit; files of sysfs and procfs are regular, whatever size they report.
 * A copy must not change during a read: Node has no openat2, so links are resolved before the file is opened.
 *
 * Every method throws system errors, including ENOENT, and MachineFileError.
 */
export class MachineFiles {
  readonly root: string
  private readonly isLive: boolean

  constructor(root: string) {
    this.root = root
    this.isLive = resolve(root) === '/'
  }

  /** Returns the contents of a regular file of at most `maxBytes`. */
  bytes(path: string, maxBytes = MAX_BYTES): Buffer {
    return readRegularFileSync(this.resolve(path), maxBytes)
  }

  text(path: string, maxBytes?: number): string {
    return this.bytes(path, maxBytes).toString('utf8')
  }

  /** Returns the names in a folder. */
  list(path: string): string[] {
    return readdirSync(this.resolve(path))
  }

  /** Returns the target of a symbolic link, unresolved. */
  link(path: string): string {
    return readlinkSync(this.resolveFolder(path))
  }

  exists(path: string): boolean {
    return statSync(this.resolve(path), { throwIfNoEntry: false }) !== undefined
  }

  /**
   * Returns the path by which this process can open a file. In a copy, all links are resolved. On this machine, links are
   * left to the kernel: only the kernel can follow the links in /proc/PID/fd.
   */
  resolve(path: string): string {
    return this.isLive
      ? join('/', path)
      : join(
          this.root,
          resolveInRoot(path, (at) => linkAt(join(this.root, at))),
        )
  }
  /** Same as `resolve`, but does not follow a link in the last component. */
  resolveFolder(path: string): string {
    return join(this.resolve(folderOf(path)), basename(path))
  }
}

/** Returns the target of a link; undefined if the path is not a link, does not exist or is not accessible. */
export function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined // if the file is needed, opening it fails for the same reason
  }
}
