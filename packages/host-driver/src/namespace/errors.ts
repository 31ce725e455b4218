import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** A transfer that would pass the end of its namespace. Nothing was submitted. */
export class LbaRangeError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_LBA_RANGE'
  readonly category = 'usage'
  constructor(nsid: number, slba: number, blocks: number, available: number) {
    super(`LBAs 0x${hex(slba)} to 0x${hex(slba + blocks - 1)} are not all in namespace ${nsid}`, {
      facts: [`namespace ${nsid} ends at LBA 0x${hex(available)} (NSZE)`],
    })
  }
}

/** The namespace exists, but not in a format that can be read and written here. */
export class UnsupportedNamespaceError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNSUPPORTED_NAMESPACE'
  readonly category = 'infeasible'
  constructor(nsid: number, reason: string) {
    super(`Namespace ${nsid} cannot be used: ${reason}`, {
      next: 'format it without metadata (this erases it), or use another namespace',
    })
  }
}

/** There is no active namespace of that number. */
export class NamespaceNotFoundError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NAMESPACE_NOT_FOUND'
  readonly category = 'not-found'
  constructor(nsid: number, active: readonly { readonly nsid: number }[]) {
    const found = active.map((namespace) => namespace.nsid).join(', ')
    super(`Namespace ${nsid} is not active`, { facts: [`active: ${found || 'none'}`] })
  }
}

function hex(value: number): string {
  return value.toString(16)
}
