import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import type { Namespace } from '../namespace.js'
import { findHolders, type Holder } from './holders.js'
import { findSignatures, type FoundSignature } from './signatures.js'

/** What has to be known to write to a drive: which one it is, and what on it may be lost. */
export interface WriteRequest {
  /** The controller's serial number, as Identify gives it. */
  readonly serial: string
  /** Names of what may be overwritten, as ForeignDataError lists them: 'ext2/3/4', 'GPT'. */
  readonly overwrite?: readonly string[]
}

/** Before a controller is touched: is it in use by this machine? @throws DeviceHeldError */
export async function guardController(sysRoot: string, { bdf }: Pick<Transport, 'bdf'>): Promise<void> {
  if (bdf === undefined) return // in this process, or another's emulation: no kernel driver, no mounts
  const holders = await findHolders(sysRoot, bdf)
  if (holders.length > 0) throw new DeviceHeldError(bdf, holders)
}

/** Before the first write to a namespace: does it hold something that is not ours? @throws ForeignDataError */
export async function guardNamespace(namespace: Namespace, { overwrite = [] }: WriteRequest): Promise<void> {
  const foreign = (await findSignatures(namespace)).filter(({ name }) => !overwrite.includes(name))
  if (foreign.length > 0) throw new ForeignDataError(namespace.nsid, foreign)
}

/** The drive is mounted, swapped to, or part of something. It was not touched. */
export class DeviceHeldError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DEVICE_HELD'
  readonly category = 'privilege'
  readonly holders: readonly Holder[]
  constructor(bdf: string, holders: readonly Holder[]) {
    super(`Refused to take over ${bdf}: this machine uses it`, {
      facts: holders.map(({ device, use }) => `${device} is ${use}`),
      next: 'unmount or detach what is listed, or choose another drive',
    })
    this.holders = holders
  }
}

/** The namespace holds data of a known kind. Nothing was written. */
export class ForeignDataError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_FOREIGN_DATA'
  readonly category = 'privilege'
  readonly found: readonly FoundSignature[]
  constructor(nsid: number, found: readonly FoundSignature[]) {
    super(`Refused to write to namespace ${nsid}: it holds data of another kind`, {
      facts: found.map(({ name, offsetBytes }) => `${name} (signature at byte ${offsetBytes})`),
      next: `name what may be lost, { overwrite: [${found.map(({ name }) => `'${name}'`).join(', ')}] }, or use an empty drive`,
    })
    this.found = found
  }
}
