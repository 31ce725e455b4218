import { GpuNvmeError } from '@gpunvme/nvme-spec'
import type { ExecuteOptions, OutcomeSummary, Transport } from '@gpunvme/nvme-spec/transport'
import { nodeJs } from '../machine-files/node-js.js'
import { blockDevices } from './block-devices.js'
import { claimAt, type Claim, type ClaimDevice } from './exclusive.js'
import type { Holder } from './holder.js'
import { findHolders, holdersOf, NOT_EXCLUSIVE } from './holders.js'
import { findSignatures, type FoundSignature, type SignatureSource } from './signatures.js'
import { Tree } from './tree.js'
import { otherUserSpaceDriver } from './user-space-driver.js'

/** Identity of the drive to write to, and the data on it that may be lost. */
export interface WriteRequest {
  /** Serial number of the controller, as in Identify Controller. */
  readonly serial: string
  /** Data that may be overwritten, by the names in ForeignDataError: 'ext2/3/4', 'GPT'. */
  readonly overwrite?: readonly string[]
}

/** Name in `overwrite` for a namespace that cannot be read, whose data is unknown. */
export const UNREADABLE_DATA = 'unreadable data'

/**
 * Checks that this machine does not use a controller, before it is unbound, reset or opened.
 * @param sysRoot directory with sys/, proc/, dev/ and etc/: '/' on a live machine.
 * @throws DeviceHeldError; DeviceUseUnknownError if a use could not be checked.
 */
export async function guardController(sysRoot: string, { bdf }: Pick<Transport, 'bdf'>): Promise<void> {
  if (bdf === undefined) return // simulated or emulated: no kernel driver, no mounts
  const holders = await findHolders(sysRoot, bdf)
  if (holders.length > 0) throw new DeviceHeldError(bdf, holders)
}

/** Protects a drive between the last check of its holders and its release by the kernel driver. */
export interface Unbinding {
  /**
   * Checks again after the kernel driver has released the drive. Its block devices are then gone, but processes that opened
   * one, and mounts of one, remain visible. @throws DeviceHeldError, DeviceUseUnknownError
   */
  readonly refuseNewHolders: () => Promise<void>
  /** Releases the claims. May be called twice. */
  readonly release: () => Promise<void>
}

/**
 * Claims the disks of a controller exclusively before the kernel driver releases it. Until then no file system, swap, device
 * mapper, md or ZFS can start to use a disk or its partitions. A process can still open a disk without O_EXCL;
 * `refuseNewHolders` detects it.
 * @param claimDevice the function that claims a device. Default: `claimAt(root)`.
 * @throws DeviceHeldError; DeviceUseUnknownError if a use could not be checked.
 */
export async function guardUnbinding(
  sysRoot: string,
  bdf: string,
  claimDevice: ClaimDevice | undefined = claimAt(sysRoot),
): Promise<Unbinding> {
  const tree = new Tree(sysRoot, bdf)
  const devices = await blockDevices(tree)
  const claims: Claim[] = []
  const release = async () => {
    for (const claim of claims.splice(0)) await claim.close()
  }
  try {
    for (const { name, path } of devices) {
      const isDisk = path === `sys/block/${name}`
      if (!isDisk || claimDevice === undefined) continue
      const claim = await claimDevice(nodeJs.path.join(sysRoot, 'dev', name)).catch((error: unknown) =>
        tree.blind(`dev/${name}`, (error as NodeJS.ErrnoException).code ?? String(error), error),
      )
      if (claim === undefined) throw new DeviceHeldError(bdf, [{ device: name, use: NOT_EXCLUSIVE }])
      claims.push(claim)
    }
  } catch (error) {
    await release()
    throw error
  }
  const refuseNewHolders = async () => {
    const holders = await holdersOf(tree, devices)
    if (holders.length > 0) throw new DeviceHeldError(bdf, holders)
  }
  return { refuseNewHolders, release }
}

/**
 * Checks that no other process has the registers of a controller open, after they were opened and before they are
 * accessed. The kernel allows two processes to open them after both have passed `guardController`.
 * @throws DeviceHeldError; DeviceUseUnknownError if a use could not be checked.
 */
export async function guardRegisters(sysRoot: string, bdf: string): Promise<void> {
  const holders = await otherUserSpaceDriver(new Tree(sysRoot, bdf))
  if (holders.length > 0) throw new DeviceHeldError(bdf, holders)
}

/** A namespace whose data is to be protected. */
interface GuardedNamespace extends SignatureSource {
  readonly nsid: number
}

/**
 * Checks that a namespace holds no foreign data, before its first write.
 * @param reading options of the reads.
 * @throws ForeignDataError; errors of the reads, since unreadable blocks may hold anything.
 */
export async function guardNamespace(
  namespace: GuardedNamespace,
  { overwrite = [] }: WriteRequest,
  reading: ExecuteOptions = {},
): Promise<void> {
  const { capacityBytes, blockBytes } = namespace
  const readBytes = (offsetBytes: number, lengthBytes: number) => namespace.readBytes(offsetBytes, lengthBytes, reading)
  refuse(namespace, await findSignatures({ capacityBytes, blockBytes, readBytes }), overwrite)
}

/**
 * Checks a namespace before all of it is lost: formatted, sanitized or deleted. Like `guardNamespace`, but a namespace
 * that cannot be read (which formatting may repair) counts as data to be named. Format and Sanitize may reach every
 * namespace of a subsystem (FNA): check each.
 * @throws ForeignDataError; DriverError (CONTROLLER_CLOSED, NAMESPACE_BUSY); DeviceLostError, TransferError of a lost
 *   device
 */
export async function guardErase(namespace: GuardedNamespace, { overwrite = [] }: WriteRequest): Promise<void> {
  let found: FoundSignature[]
  try {
    found = await findSignatures(namespace)
  } catch (error) {
    // Errors of a closed or busy handle, or of a lost controller, are not about the data.
    if (!(error instanceof GpuNvmeError) || error.category === 'usage' || isLoss(error)) throw error
    refuse(namespace, [{ name: UNREADABLE_DATA, offsetBytes: 0, offsets: [] }], overwrite, error)
    return
  }
  refuse(namespace, found, overwrite)
}

/** Returns whether a DeviceLostError, or a TransferError with its `failures`, reports a lost controller. */
function isLoss(error: GpuNvmeError): boolean {
  const { failures = [] } = error as { readonly failures?: OutcomeSummary['failures'] }
  return error.code === 'ERR_GPUNVME_DEVICE_LOST' || failures.some(({ outcome }) => outcome.kind === 'device-lost')
}

function refuse(
  { nsid }: GuardedNamespace,
  found: FoundSignature[],
  overwrite: readonly string[],
  cause?: unknown,
): void {
  const foreign = found.filter(({ name }) => !overwrite.includes(name))
  if (foreign.length > 0) throw new ForeignDataError(nsid, foreign, cause)
}

/**
 * This machine uses the drive: it is mounted, used as swap, or held by another device. The drive was not changed. If
 * the use was found after the drive was unbound, its driver was restored.
 */
export class DeviceHeldError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_DEVICE_HELD'
  readonly category = 'privilege'
  /** All uses that were found. */
  readonly holders: readonly Holder[]
  constructor(bdf: string, holders: readonly Holder[]) {
    super(`Refused to take over ${bdf}: this machine uses it`, {
      facts: holders.map(({ device, use }) => `${device} is ${use}`),
      next: 'unmount or detach what is listed, or choose another drive',
    })
    this.holders = holders
  }
}

/** The namespace holds data of a known format, or data that cannot be read. Nothing was written. */
export class ForeignDataError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_FOREIGN_DATA'
  readonly category = 'privilege'
  /** Data that `overwrite` does not name. */
  readonly found: readonly FoundSignature[]
  constructor(nsid: number, found: readonly FoundSignature[], cause?: unknown) {
    super(`Refused to write to namespace ${nsid}: it holds other data`, {
      facts: found.map(({ name, offsets }) => `${name}${placesInWords(offsets)}`),
      next: `pass { overwrite: [${found.map(({ name }) => `'${name}'`).join(', ')}] } if it may be lost, or use an empty drive`,
      cause,
    })
    this.found = found
  }
}

function placesInWords(places: readonly number[]): string {
  const [first, second, third] = places
  if (first === undefined) return ''
  if (second === undefined) return ` (signature at byte ${first})`
  if (third === undefined) return ` (signatures at bytes ${first} and ${second})`
  return ` (signatures at byte ${first} and at ${places.length - 1} more places)`
}
