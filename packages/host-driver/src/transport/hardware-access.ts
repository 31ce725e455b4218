import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** Does something with a file that a function is reached by; what the kernel refuses becomes a HardwareAccessError. */
export function accessing<T>(bdf: string, file: string, access: () => T): T {
  try {
    return access()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof GpuNvmeError || code === undefined || code.startsWith('ERR_')) throw error
    throw new HardwareAccessError(bdf, file, code, error)
  }
}

/** What to do when a privilege is missing: that of the file, or one that no permission of a file stands for. */
const NEXT: Readonly<Record<string, string>> = {
  EACCES: 'run as root, or make that file accessible for you',
  EPERM:
    'run as root, or with CAP_SYS_RAWIO; where Secure Boot has locked the kernel down, only vfio with an IOMMU is left',
}

/** The kernel refused a file that the function is reached by. */
export class HardwareAccessError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_HARDWARE_ACCESS'
  readonly category: 'privilege' | 'device'
  readonly path: string
  readonly errno: string
  constructor(bdf: string, path: string, errno: string, cause?: unknown) {
    const next = NEXT[errno]
    super(`Cannot access ${bdf} by ${path}: ${errno}`, {
      next: next ?? 'see that the drive is on the bus (lspci), and what the kernel log says (dmesg)',
      cause,
    })
    this.category = next === undefined ? 'device' : 'privilege'
    this.path = path
    this.errno = errno
  }
}
