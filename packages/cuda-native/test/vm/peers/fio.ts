import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { CACHE } from '../parts.js'

/** fio, at the same path in the guest, over 9p. */
export interface Fio {
  readonly version: string
  readonly program: string
  /** Folders of its libraries; empty if it is installed on this machine. */
  readonly libraries: string
}

/**
 * Returns the installed fio, or Debian's, which apt downloads with the libraries that are missing, and which is
 * unpacked but not installed. A string states why it is unavailable.
 */
export function findFio(): Fio | string {
  const installed = versionOf('fio', '')
  if (installed !== undefined) return { version: installed, program: 'fio', libraries: '' }
  const folder = join(CACHE, 'fio')
  if (!existsSync(folder)) download(folder)
  const program = join(folder, 'usr/bin/fio')
  if (!existsSync(program)) return 'fio is not installed, and cannot be downloaded with apt-get'
  const lib = join(folder, 'usr/lib')
  // librados loads libraries from ceph's folder by an absolute path.
  const folders = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.so.2'))
  const places = new Set(folders.map((path) => join(lib, path, '..')))
  const libraries = [...places].join(':')
  const version = versionOf(program, libraries)
  return version === undefined ? `${program} does not start` : { version, program, libraries }
}

function versionOf(program: string, libraries: string): string | undefined {
  const env = { ...process.env, LD_LIBRARY_PATH: libraries }
  const { status, stdout } = spawnSync(program, ['--version'], { encoding: 'utf8', env })
  return status === 0 ? stdout.trim() : undefined
}

/** Downloads and unpacks packages into a temporary folder, and renames it when it is complete. */
function download(place: string): void {
  mkdirSync(CACHE, { recursive: true })
  const folder = mkdtempSync(join(CACHE, 'new-'))
  const run = (program: string, ...args: string[]) => spawnSync(program, args, { cwd: folder, encoding: 'utf8' })
  try {
    const { error, stdout } = run('apt-get', '--simulate', '--no-install-recommends', 'install', 'fio')
    if (error) return
    const packages = [...stdout.matchAll(/^Inst (\S+)/gm)].map(([, name]) => name!)
    if (packages.length === 0) return
    const asUser = process.getuid?.() === 0 ? ['-o', 'APT::Sandbox::User=root'] : []
    if (run('apt-get', ...asUser, '-qq', 'download', ...packages).status !== 0) return
    for (const name of readdirSync(folder).filter((entry) => entry.endsWith('.deb'))) {
      if (run('dpkg-deb', '-x', name, '.').status !== 0) return
      rmSync(join(folder, name))
    }
    renameSync(folder, place)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
