import { nodeJs } from './node-js.js'
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
  /** Root folder: '/' for this machine. */
  readonly root: string
  private readonly isLive: boolean

  constructor(root: string) {
    this.root = root
    this.isLive = nodeJs.path.resolve(root) === '/'
  }

  /** Returns the contents of a regular file of at most `maxBytes`. */
  bytes(path: string, maxBytes = MAX_BYTES): Buffer {
    return readRegularFileSync(this.resolve(path), maxBytes)
  }

  /** Returns the contents of a regular file as text. */
  text(path: string, maxBytes?: number): string {
    return this.bytes(path, maxBytes).toString('utf8')
  }

  /** Returns the names in a folder. */
  list(path: string): string[] {
    return nodeJs.fs.readdirSync(this.resolve(path))
  }

  /** Returns the target of a symbolic link, unresolved. */
  link(path: string): string {
    return nodeJs.fs.readlinkSync(this.resolveFolder(path))
  }

  /** Returns whether a file exists. */
  exists(path: string): boolean {
    return nodeJs.fs.statSync(this.resolve(path), { throwIfNoEntry: false }) !== undefined
  }

  /**
   * Returns the path by which this process can open a file. In a copy, all links are resolved. On this machine, links are
   * left to the kernel: only the kernel can follow the links in /proc/PID/fd.
   */
  resolve(path: string): string {
    const { path: paths } = nodeJs
    return this.isLive
      ? paths.join('/', path)
      : paths.join(
          this.root,
          resolveInRoot(path, (at) => linkAt(paths.join(this.root, at))),
        )
  }
  /** Same as `resolve`, but does not follow a link in the last component. */
  resolveFolder(path: string): string {
    return nodeJs.path.join(this.resolve(folderOf(path)), nodeJs.path.basename(path))
  }
}

/** Returns the target of a link; undefined if the path is not a link, does not exist or is not accessible. */
export function linkAt(path: string): string | undefined {
  try {
    return nodeJs.fs.readlinkSync(path)
  } catch {
    return undefined // if the file is needed, opening it fails for the same reason
  }
}
