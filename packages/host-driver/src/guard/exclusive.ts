import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { resolve } from 'node:path'

/** Whether a block device can be opened exclusively right now; rejects with the errno when it cannot be opened at all. */
export type TryExclusive = (node: string) => Promise<boolean>

/** How that is asked on the machine at `root`: not at all in a copied tree, whose nodes are no devices. */
export function exclusiveAt(root: string): TryExclusive | undefined {
  return resolve(root) === '/' ? tryExclusive : undefined
}

/**
 * O_EXCL without O_CREAT, open(2): EBUSY when the block device is in use by the system. File systems, swap, device
 * mapper, md and ZFS claim theirs this way, also from mount namespaces that we do not see. It is opened for reading,
 * so closing it makes nobody look at it anew, and given back at once: the answer is of this instant.
 */
export async function tryExclusive(node: string): Promise<boolean> {
  try {
    await (await open(node, constants.O_RDONLY | constants.O_EXCL)).close()
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EBUSY') return false
    throw error
  }
}
