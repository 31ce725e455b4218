import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { MachineFileError } from '../machine-files/error.js'
import { MachineFiles } from '../machine-files/files.js'
import { nodeJs } from '../machine-files/node-js.js'
import { readRegularFile } from '../machine-files/regular-file.js'

/** Errors for files of another process, which may be inaccessible or end meanwhile. */
export const OF_ANOTHER_PROCESS = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL']

/** Maximum length of a file. Mount tables of large container hosts take several MiB. */
const MAX_BYTES = 64 * 1024 * 1024

/**
 * Reads sys/, proc/ and dev/ through `MachineFiles` for the checks of one drive. An unreadable file is an error, since it may
 * show that the drive is in use. Each read states which errors mean that the file does not exist.
 */
export class Tree {
  readonly bdf: string
  private readonly files: MachineFiles

  constructor(root: string, bdf: string) {
    this.bdf = bdf
    this.files = new MachineFiles(root)
  }

  /** Returns the names in a directory; none if it does not exist, which in sysfs means that there is nothing. */
  async list(path: string, nothing: readonly string[] = ['ENOENT']): Promise<string[]> {
    return (await this.look(path, (at) => nodeJs.promises.readdir(at), nothing)) ?? []
  }

  /**
   * Returns the text of a file without its final newline; undefined for the errors that mean that it does not exist.
   */
  async text(path: string, nothing: readonly string[] = ['ENOENT']): Promise<string | undefined> {
    return (await this.bytes(path, nothing))?.toString('utf8').replace(/\n$/, '')
  }

  /** Returns the contents of a file; undefined for the errors that mean that it does not exist. */
  bytes(path: string, nothing: readonly string[] = ['ENOENT']): Promise<Buffer | undefined> {
    return this.look(path, (at) => readRegularFile(at, MAX_BYTES), nothing)
  }

  /** Returns the target of a link, unresolved. */
  async link(path: string, nothing: readonly string[] = ['ENOENT']): Promise<string | undefined> {
    return this.look(
      path,
      (at) => nodeJs.promises.readlink(at),
      nothing,
      () => this.files.resolveFolder(path),
    )
  }

  /** Returns the number of a node that a process has open (b259:0, c240:0); undefined if it is not a device. */
  async deviceNumber(path: string): Promise<string | undefined> {
    const found = await this.look(path, (at) => nodeJs.promises.stat(at, { bigint: true }), OF_ANOTHER_PROCESS)
    if (found === undefined || (!found.isBlockDevice() && !found.isCharacterDevice())) return undefined
    // As glibc's gnu_dev_makedev encodes them.
    const major = ((found.rdev >> 8n) & 0xfffn) | ((found.rdev >> 32n) & 0xffff_f000n)
    const minor = (found.rdev & 0xffn) | ((found.rdev >> 12n) & 0xffff_ff00n)
    return `${found.isBlockDevice() ? 'b' : 'c'}${major}:${minor}`
  }

  /** Returns the text of a file that must exist. @throws DeviceUseUnknownError */
  async required(path: string): Promise<string> {
    return (await this.text(path, []))!
  }

  /** Returns the kernel's name of a node below /dev, through any link: /dev/disk/by-uuid/... is nvme0n1p2. */
  async deviceName(path: string): Promise<string> {
    const [resolved, dev] = await Promise.all([this.resolve(path), this.resolve('dev')])
    return resolved === undefined || dev === undefined
      ? path.replace(/^\/dev\//, '')
      : nodeJs.path.relative(dev, resolved)
  }

  /** Reports a use that could not be checked. @throws DeviceUseUnknownError */
  blind(path: string, reason: string, cause?: unknown): never {
    throw new DeviceUseUnknownError(this.bdf, `/${path}`, reason, cause)
  }

  private async resolve(path: string): Promise<string | undefined> {
    try {
      return await nodeJs.promises.realpath(this.files.resolve(path))
    } catch {
      return undefined // a node of another mount namespace, or a deleted one: use its own name
    }
  }

  private async look<T>(
    path: string,
    how: (path: string) => Promise<T>,
    nothing: readonly string[],
    resolve = () => this.files.resolve(path),
  ): Promise<T | undefined> {
    try {
      return await how(resolve())
    } catch (error) {
      if (error instanceof MachineFileError) return this.blind(path, error.problem, error)
      const { code = String(error) } = error as NodeJS.ErrnoException
      return nothing.includes(code) ? undefined : this.blind(path, code, error)
    }
  }
}

/** A file that may show a use of the drive could not be read. The drive was not touched. */
export class DeviceUseUnknownError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DEVICE_USE_UNKNOWN'
  readonly category = 'privilege'
  /** The file or directory. */
  readonly path: string
  constructor(bdf: string, path: string, reason: string, cause?: unknown) {
    super(`Refused to take over ${bdf}: could not determine whether this machine uses it`, {
      facts: [`${path}: ${reason}`],
      next:
        reason === 'ENOENT'
          ? 'retry if the drive was just plugged in or its partitions changed; /sys, /proc and /dev must be mounted'
          : 'run as root, with /sys, /proc and /dev mounted',
      cause,
    })
    this.path = path
  }
}
