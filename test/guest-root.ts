import { realpathSync } from 'node:fs'
import { sep } from 'node:path'

/** Folders of the host that a guest cannot see: it mounts its own file systems over them (test/vm/guest/init). */
const HIDDEN = ['/tmp', '/proc', '/sys', '/dev']

/**
 * Checks that a guest, whose programs are the host's files, can see this checkout.
 * @param root the checkout.
 * @throws Error
 */
export function requireVisibleToGuests(root: string): void {
  const path = realpathSync(root)
  const hidden = HIDDEN.find((folder) => `${path}${sep}`.startsWith(`${folder}/`))
  if (hidden === undefined) return
  throw new Error(
    `Linux guests mount a file system of their own over ${hidden} and cannot see ${path}: clone the repository elsewhere`,
  )
}
