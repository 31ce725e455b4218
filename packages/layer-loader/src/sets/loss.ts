import { TransferError } from '@gpunvme/host-driver'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { behindMember } from './member-error.js'

/**
 * Whether a member that failed so may be gone, or hang, and so still write to memory that it was given; where not, it
 * has answered, and other blocks of it may be as good as ever.
 */
export function isLoss(error: GpuNvmeError): boolean {
  const behind = behindMember(error)
  if (!(behind instanceof TransferError)) return error.category === 'device'
  return behind.failures.some(({ outcome }) => outcome.kind === 'device-lost' || outcome.kind === 'timeout')
}
