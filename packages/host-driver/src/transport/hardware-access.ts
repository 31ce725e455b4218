import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** Accesses a file of a function; a refusal by the kernel is a HardwareAccessError. */
export function accessing<T>(bdf: string, file: string, access: () => T): T {
  try {
    return access()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof GpuNvmeError || code === undefined || code.startsWith('ERR_')) throw error
    throw new HardwareAccessError(bdf, file, code, error)
  }
}

/** Next steps for a missing privilege: that of the file, or one that no file permission grants. */
const NEXT: Readonly<Record<string, string>> = {
  EACCES: 'run as root, or make that file accessible to your user',
  EPERM: 'run as root, or with CAP_SYS_RAWIO; if Secure Boot has locked the kernel down, only vfio with an IOMMU works',
}

/** The kernel refused access to a file of the function. */
export class HardwareAccessError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_HARDWARE_ACCESS'
  readonly category: 'privilege' | 'device'
  /** File that could not be accessed. */
  readonly path: string
  /** Error of the kernel, such as 'EACCES'. */
  readonly errno: string
  constructor(bdf: string, path: string, errno: string, cause?: unknown) {
    const next = NEXT[errno]
    super(`Cannot access ${bdf} through ${path}: ${errno}`, {
      next: next ?? 'check that the drive is on the bus (lspci), and the kernel log (dmesg)',
      cause,
    })
    this.category = next === undefined ? 'device' : 'privilege'
    this.path = path
    this.errno = errno
  }
}
