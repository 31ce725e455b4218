import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'

/** Whether a block device can be opened exclusively right now; rejects with the errno when it cannot be opened at all. */
export type TryExclusive = (node: string) => Promise<boolean>

/** How that is asked on the machine at `root`: not at all in a copied tree, whose nodes are no devices. */
export function exclusiveAt(root: string): TryExclusive | undefined {
  return resolve(root) === '/' ? tryExclusive : undefined
}

/** An exclusive open of a block device, held until it is closed. */
export interface Claim {
  close(): Promise<void>
}

/** Claims a block device; undefined while the system uses it. Rejects with the errno when it cannot be opened at all. */
export type ClaimDevice = (node: string) => Promise<Claim | undefined>

/** How devices are claimed on the machine at `root`: not at all in a copied tree, whose nodes are no devices. */
export function claimAt(root: string): ClaimDevice | undefined {
  return resolve(root) === '/' ? claim : undefined
}

/**
 * Opens a block device with O_EXCL and without O_CREAT, for which open(2) answers EBUSY while the system uses the device.
 * File systems, swap, device mapper, md and ZFS claim theirs this way, also from mount namespaces that this process does
 * not see; while this claim is held they cannot claim it. Opened for reading: closing it triggers no rescan by udev.
 */
export async function claim(node: string): Promise<Claim | undefined> {
  try {
    return await open(node, constants.O_RDONLY | constants.O_EXCL)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EBUSY') return undefined
    throw error
  }
}

/** Whether a block device can be claimed at this instant. */
export async function tryExclusive(node: string): Promise<boolean> {
  const held = await claim(node)
  await held?.close()
  return held !== undefined
}
