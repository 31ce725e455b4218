import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { readdir, readFile, readlink, realpath, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** What another process may deny to us, or may take with it while it is looked at. */
export const OF_ANOTHER_PROCESS = ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EINVAL']

/**
 * Where sys/, proc/ and dev/ are, on behalf of one drive. Whatever cannot be looked at is an error, since it may be
 * what would have said that the drive is in use; each look says which answers mean that there is nothing.
 */
export class Tree {
  readonly root: string
  readonly bdf: string

  constructor(root: string, bdf: string) {
    this.root = root
    this.bdf = bdf
  }

  /** Names in a directory; none where there is no such directory, which is how sysfs says that there is nothing. */
  async list(path: string, nothing: readonly string[] = ['ENOENT']): Promise<string[]> {
    return (await this.look(path, (at) => readdir(at), nothing)) ?? []
  }

  /** The text of a file, without the newline at its end; undefined for the answers that mean nothing. */
  async text(path: string, nothing: readonly string[] = ['ENOENT']): Promise<string | undefined> {
    return (await this.look(path, (at) => readFile(at, 'utf8'), nothing))?.replace(/\n$/, '')
  }

  async bytes(path: string): Promise<Uint8Array | undefined> {
    return this.look(path, (at) => readFile(at), ['ENOENT'])
  }

  /** What a link says, unresolved. */
  async link(path: string, nothing: readonly string[] = ['ENOENT']): Promise<string | undefined> {
    return this.look(path, (at) => readlink(at), nothing)
  }

  /** What node a process has open, as b259:0 or c240:0; undefined of what is no device. */
  async deviceNumber(path: string): Promise<string | undefined> {
    const found = await this.look(path, (at) => stat(at, { bigint: true }), OF_ANOTHER_PROCESS)
    if (found === undefined || (!found.isBlockDevice() && !found.isCharacterDevice())) return undefined
    // How glibc's gnu_dev_makedev puts them together.
    const major = ((found.rdev >> 8n) & 0xfffn) | ((found.rdev >> 32n) & 0xffff_f000n)
    const minor = (found.rdev & 0xffn) | ((found.rdev >> 12n) & 0xffff_ff00n)
    return `${found.isBlockDevice() ? 'b' : 'c'}${major}:${minor}`
  }

  /** The text of a file that has to be there. @throws DeviceUseUnknownError */
  async required(path: string): Promise<string> {
    return (await this.text(path, []))!
  }

  /** The kernel's name of a node below /dev, whatever link it is called by: /dev/disk/by-uuid/... is nvme0n1p2. */
  async deviceName(node: string): Promise<string> {
    const dev = join(this.root, 'dev')
    const [resolved, resolvedDev] = await Promise.all([this.resolve(node), realpath(dev).catch(() => dev)])
    return resolved === undefined ? node.replace(/^\/dev\//, '') : relative(resolvedDev, resolved)
  }

  /** @throws DeviceUseUnknownError */
  blind(path: string, reason: string, cause?: unknown): never {
    throw new DeviceUseUnknownError(this.bdf, `/${path}`, reason, cause)
  }

  private async resolve(path: string): Promise<string | undefined> {
    try {
      return await realpath(join(this.root, path))
    } catch {
      return undefined // a node that another mount namespace has, or that is gone: its own name has to do
    }
  }

  private async look<T>(
    path: string,
    how: (path: string) => Promise<T>,
    nothing: readonly string[],
  ): Promise<T | undefined> {
    try {
      return await how(join(this.root, path))
    } catch (error) {
      const { code = String(error) } = error as NodeJS.ErrnoException
      return nothing.includes(code) ? undefined : this.blind(path, code, error)
    }
  }
}

/** The drive may be in use: something that would say so could not be looked at. The drive was not touched. */
export class DeviceUseUnknownError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DEVICE_USE_UNKNOWN'
  readonly category = 'privilege'
  /** What could not be looked at. */
  readonly path: string
  constructor(bdf: string, path: string, reason: string, cause?: unknown) {
    super(`Refused to take over ${bdf}: could not find out whether this machine uses it`, {
      facts: [`${path}: ${reason}`],
      next:
        reason === 'ENOENT'
          ? 'again, if the drive was just plugged in or its partitions were changed; /sys, /proc and /dev have to be mounted'
          : 'again as root, with /sys, /proc and /dev mounted',
      cause,
    })
    this.path = path
  }
}
