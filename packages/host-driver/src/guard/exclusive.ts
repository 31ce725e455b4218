import { nodeJs } from '../machine-files/node-js.js'

/**
 * Returns whether a block device can be opened exclusively now; rejects with the error if it cannot be opened at all.
 */
export type TryExclusive = (node: string) => Promise<boolean>

/** Returns that check for the machine at `root`; undefined for a copied tree, which has no device nodes. */
export function exclusiveAt(root: string): TryExclusive | undefined {
  return nodeJs.path.resolve(root) === '/' ? tryExclusive : undefined
}

/** An exclusive open of a block device, held until `close`. */
export interface Claim {
  close(): Promise<void>
}

/** Claims a block device; resolves with undefined if the system uses it. Rejects with the error of open(2) otherwise. */
export type ClaimDevice = (node: string) => Promise<Claim | undefined>

/** Returns the claim function for the machine at `root`; undefined for a copied tree, which has no device nodes. */
export function claimAt(root: string): ClaimDevice | undefined {
  return nodeJs.path.resolve(root) === '/' ? claim : undefined
}

/**
 * Opens a block device with O_EXCL and without O_CREAT, for which open(2) answers EBUSY while the system uses the device.
 * File systems, swap, device mapper, md and ZFS claim their devices this way, also from mount namespaces that are invisible
 * to this process; they cannot claim a device that is already claimed. Opens for reading, so that closing triggers no udev
 * rescan.
 */
export async function claim(device: string): Promise<Claim | undefined> {
  try {
    const { open, constants } = nodeJs.promises
    return await open(device, constants.O_RDONLY | constants.O_EXCL)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EBUSY') return undefined
    throw error
  }
}

/** Returns whether a block device can currently be claimed. */
export async function tryExclusive(device: string): Promise<boolean> {
  const held = await claim(device)
  await held?.close()
  return held !== undefined
}
