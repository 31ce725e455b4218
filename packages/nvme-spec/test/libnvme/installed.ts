import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'

/** Why a header cannot judge here, after the kind of what is missing; undefined where it can. */
export function missing(header: string | undefined, debianPackage: string): string | undefined {
  if (spawnSync('gcc', ['--version']).error) return '[headers] gcc is not installed'
  return header !== undefined && existsSync(header) ? undefined : `[headers] ${debianPackage} is not installed`
}

/** The installed release of a library, as its package says; empty where nothing says it. */
export function installedVersion(library: string, debianPackage: string): string {
  const { stdout } = spawnSync('pkg-config', ['--modversion', library], { encoding: 'utf8' })
  if (stdout) return stdout.trim()
  const dpkg = spawnSync('dpkg-query', ['--show', '--showformat=${Version}', debianPackage], { encoding: 'utf8' })
  return dpkg.error ? '' : dpkg.stdout.trim()
}
