import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Returns the reason why a header cannot be compared, with the kind of the missing part; undefined if it can. */
export function missing(header: string | undefined, debianPackage: string): string | undefined {
  const probe = spawnSync('gcc', ['-E', '-x', 'c', '-include', 'stdio.h', '/dev/null'])
  if (probe.error) return '[headers] gcc is not installed'
  if (probe.status !== 0) return '[headers] libc6-dev is not installed'
  return header !== undefined && existsSync(header) ? undefined : `[headers] ${debianPackage} is not installed`
}

/**
 * Returns the reason why tables of release `expected` do not apply to the installed one, whose names and mistakes may
 * differ; undefined if they do.
 */
export function otherRelease(name: string, version: string, expected: string): string | undefined {
  return version.startsWith(expected)
    ? undefined
    : `[headers] ${name} is ${version || 'of an unknown release'}, expected ${expected}`
}

/** Returns the installed release of a library from its package; empty if unknown. */
export function installedVersion(library: string, debianPackage: string): string {
  const { stdout } = spawnSync('pkg-config', ['--modversion', library], { encoding: 'utf8' })
  if (stdout) return stdout.trim()
  const dpkg = spawnSync('dpkg-query', ['--show', '--showformat=${Version}', debianPackage], { encoding: 'utf8' })
  return dpkg.error ? '' : dpkg.stdout.trim()
}
