import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Why a header cannot judge here, after the kind of what is missing; undefined where it can. */
export function missing(header: string | undefined, debianPackage: string): string | undefined {
  const probe = spawnSync('gcc', ['-E', '-x', 'c', '-include', 'stdio.h', '/dev/null'])
  if (probe.error) return '[headers] gcc is not installed'
  if (probe.status !== 0) return '[headers] libc6-dev is not installed'
  return header !== undefined && existsSync(header) ? undefined : `[headers] ${debianPackage} is not installed`
}

/**
 * Returns why tables of release `expected` cannot judge the installed one, since another release has other names and other
 * mistakes; undefined if they can.
 */
export function otherRelease(name: string, version: string, expected: string): string | undefined {
  return version.startsWith(expected)
    ? undefined
    : `[headers] ${name} is ${version || 'of an unknown release'}, expected ${expected}`
}

/** The installed release of a library, as its package says; empty where nothing says it. */
export function installedVersion(library: string, debianPackage: string): string {
  const { stdout } = spawnSync('pkg-config', ['--modversion', library], { encoding: 'utf8' })
  if (stdout) return stdout.trim()
  const dpkg = spawnSync('dpkg-query', ['--show', '--showformat=${Version}', debianPackage], { encoding: 'utf8' })
  return dpkg.error ? '' : dpkg.stdout.trim()
}
