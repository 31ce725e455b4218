import { realpathSync } from 'node:fs'
import { sep } from 'node:path'

/** Folders of the host that a guest cannot see, since it mounts its own file systems there (test/vm/guest/init). */
const HIDDEN = ['/tmp', '/proc', '/sys', '/dev']

/**
 * Checks that a guest, which runs programs from the host's file system, can see this checkout.
 * @param root the checkout.
 * @throws Error
 */
export function requireVisibleToGuests(root: string): void {
  const path = realpathSync(root)
  const hidden = HIDDEN.find((folder) => `${path}${sep}`.startsWith(`${folder}/`))
  if (hidden === undefined) return
  throw new Error(
    `Linux guests mount their own file system over ${hidden} and cannot see ${path}: clone the repository elsewhere`,
  )
}
