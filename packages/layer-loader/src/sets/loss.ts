import { TransferError } from '@gpunvme/host-driver'
import type { GpuNvmeError } from '@gpunvme/nvme-spec/error'
import { behindMember } from './member-error.js'

/**
 * Returns whether a failed member may be gone or hang, and so may still write to its memory. Otherwise it has answered,
 * and other blocks may be readable.
 */
export function isLoss(error: GpuNvmeError): boolean {
  const behind = behindMember(error)
  if (!(behind instanceof TransferError)) return error.category === 'device'
  return behind.failures.some(({ outcome }) => outcome.kind === 'device-lost' || outcome.kind === 'timeout')
}
