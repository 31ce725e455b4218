import { MachineFileError } from './error.js'

/** Maximum number of links in the resolution of a path, as in Linux (path_resolution(7)). */
const MAX_LINKS = 40

/**
 * Resolves every symbolic link of a path below a root, as openat2(2) does with RESOLVE_IN_ROOT: an absolute link starts
 * at the root again, and '..' at the root stays there.
 * @param path from the root, with or without a leading '/'.
 * @param readLink returns the target of a link, given its path from the root; undefined for anything else.
 * @returns the path from the root, without links and without a leading '/'; '' is the root itself.
 * @throws MachineFileError for a cycle of links, or more than 40 links.
 */
export function resolveInRoot(path: string, readLink: (place: string) => string | undefined): string {
  let left = partsOf(path)
  let at = ''
  let links = 0
  for (let part = left.shift(); part !== undefined; part = left.shift()) {
    if (part === '..') {
      at = folderOf(at)
      continue
    }
    const next = at === '' ? part : `${at}/${part}`
    const to = readLink(next)
    if (to === undefined) {
      at = next
      continue
    }
    if (++links > MAX_LINKS) throw new MachineFileError(`/${path}`, `more than ${MAX_LINKS} symbolic links`)
    left = [...partsOf(to), ...left]
    if (to.startsWith('/')) at = ''
  }
  return at
}

/** Returns the path without its last component; '' if it has only one. */
export function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}
