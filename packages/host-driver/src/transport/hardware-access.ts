import { GpuNvmeError } from '@gpunvme/nvme-spec'
import { DriverError } from '../error.js'

/** Accesses a file of a function; a refusal by the kernel is a DriverError (HARDWARE_ACCESS). */
export function accessing<T>(bdf: string, file: string, access: () => T): T {
  try {
    return access()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (error instanceof GpuNvmeError || code === undefined || code.startsWith('ERR_')) throw error
    throw accessRefused(bdf, file, code, error)
  }
}

/** Next steps for a missing privilege: that of the file, or one that no file permission grants. */
const NEXT: Readonly<Record<string, string>> = {
  EACCES: 'run as root, or make that file accessible to your user',
  EPERM: 'run as root, or with CAP_SYS_RAWIO; if Secure Boot has locked the kernel down, only vfio with an IOMMU works',
}

/** The kernel refused access to a file of the function. @param errno such as 'EACCES'. */
export function accessRefused(bdf: string, path: string, errno: string, cause?: unknown): DriverError {
  const next = NEXT[errno]
  const category = next === undefined ? 'device' : 'privilege'
  return new DriverError('ERR_GPUNVME_HARDWARE_ACCESS', category, `Cannot access ${bdf} through ${path}: ${errno}`, {
    next: next ?? 'check that the drive is on the bus (lspci), and the kernel log (dmesg)',
    cause,
  })
}
