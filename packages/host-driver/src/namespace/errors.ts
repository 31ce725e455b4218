import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** A transfer exceeds its namespace. Nothing was submitted. */
export class LbaRangeError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_LBA_RANGE'
  readonly category = 'usage'
  constructor(nsid: number, slba: number, blocks: number, available: number) {
    super(`LBAs 0x${hex(slba)} to 0x${hex(slba + blocks - 1)} are not all in namespace ${nsid}`, {
      facts: [
        available === 0
          ? `namespace ${nsid} has no blocks, like an inactive one`
          : `the last LBA of namespace ${nsid} is 0x${hex(available - 1)} (NSZE - 1)`,
      ],
    })
  }
}

/** The namespace exists, but this driver cannot read or write its format. */
export class UnsupportedNamespaceError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_UNSUPPORTED_NAMESPACE'
  readonly category = 'infeasible'
  constructor({ nsid, unsupported, attached }: { nsid: number; unsupported: string | undefined; attached: boolean }) {
    super(`Namespace ${nsid} cannot be used: ${unsupported}`, {
      next: attached
        ? 'format it without metadata (this erases it), or use another namespace'
        : `management.attach(${nsid}) if it still exists, or use another namespace`,
    })
  }
}

/** No namespace with this NSID is active or, for `deleteNamespace`, allocated. */
export class NamespaceNotFoundError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NAMESPACE_NOT_FOUND'
  readonly category = 'not-found'
  constructor(nsid: number, found: readonly { readonly nsid: number }[], wanted: 'active' | 'allocated' = 'active') {
    const listed = found.map((namespace) => namespace.nsid).join(', ')
    super(`Namespace ${nsid} is not ${wanted}`, { facts: [`${wanted}: ${listed || 'none'}`] })
  }
}

function hex(value: number): string {
  return value.toString(16)
}
