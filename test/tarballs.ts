import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { packages, root } from './packages.js'
import { sharedFolder } from './shared-folder.js'

/** Runs a program and returns its standard output. Errors contain the output of both streams. */
export function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { cwd, encoding: 'utf8' })
  if (error) throw error
  if (status !== 0) throw new Error(`'${[command, ...args].join(' ')}' exited with ${status}\n${stdout}${stderr}`)
  return stdout
}

const BLOCK = 512

/**
 * Returns the files of a package's tarball by their path in the package. Decodes ustar here: a machine may lack tar.
 */
export function unpack(tarball: string): Map<string, Uint8Array> {
  const bytes = gunzipSync(readFileSync(tarball))
  const files = new Map<string, Uint8Array>()
  const textAt = (at: number, length: number) => bytes.toString('utf8', at, at + length).split('\0')[0]!
  let at = 0
  // Two blocks of zeros end an archive.
  while (bytes[at] !== 0) {
    const [name, size, type, prefix] = [
      textAt(at, 100),
      textAt(at + 124, 12),
      textAt(at + 156, 1),
      textAt(at + 345, 155),
    ]
    if (type !== '0') throw new Error(`${tarball}: expected regular files only, got type '${type}' for ${name}`)
    const lengthBytes = parseInt(size, 8)
    const path = prefix === '' ? name : `${prefix}/${name}`
    files.set(path.replace(/^package\//, ''), bytes.subarray(at + BLOCK, at + BLOCK + lengthBytes))
    at += BLOCK * (1 + Math.ceil(lengthBytes / BLOCK))
  }
  return files
}

/** Packs every package as it would be published, once per run. Returns the tarballs by short name. */
export async function packAll(): Promise<Map<string, string>> {
  const folder = await sharedFolder('tarballs', (to) => {
    // Runs pnpm by Node: its launcher is a shell script that needs further programs.
    const pack = ['--recursive', '--filter=./packages/*', 'pack', '--pack-destination', to]
    run(process.execPath, [join(root, 'node_modules/pnpm/bin/pnpm.cjs'), ...pack], root)
  })
  const files = readdirSync(folder)
  return new Map(
    packages.map(({ name }) => [
      name,
      join(
        folder,
        files.find((file) => file.startsWith(`gpunvme-${name}-`))!,
      ),
    ]),
  )
}

export type PackageManager = 'npm' | 'pnpm' | 'yarn'

/** Installs tarballs into an empty folder with a package manager, as docs/start.md describes. */
export async function installInto(
  folder: string,
  tarballs: readonly string[],
  manager: PackageManager = 'npm',
): Promise<void> {
  if (manager === 'npm') cpSync(await installedByNpm(tarballs), folder, { recursive: true, verbatimSymlinks: true })
  else installBy(manager, tarballs, folder)
}

const user = { name: 'user', private: true, type: 'module' }

/** Returns a folder into which npm has installed tarballs, once per run. */
function installedByNpm(tarballs: readonly string[]): Promise<string> {
  const names = tarballs.map((path) => basename(path, '.tgz'))
  return sharedFolder(`installed-${names.join('+')}`, (to) => {
    writeFileSync(join(to, 'package.json'), JSON.stringify(user))
    run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', ...tarballs], to)
  })
}

function installBy(manager: 'pnpm' | 'yarn', tarballs: readonly string[], folder: string): void {
  const write = (manifest: object) => writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  const files = Object.fromEntries(
    [...tarballs].map((path) => [basename(path).replace(/^gpunvme-(.*)-\d.*$/, '@gpunvme/$1'), `file:${path}`]),
  )
  if (manager === 'pnpm') {
    write({ ...user, dependencies: files, pnpm: { overrides: files } })
    const args = ['install', '--ignore-workspace', '--prefer-offline', `--store-dir=${join(folder, '.store')}`]
    run(process.execPath, [join(root, 'node_modules/pnpm/bin/pnpm.cjs'), ...args], folder)
    return
  }
  // The one dependency comes from this checkout: Yarn does not share npm's cache, and the test needs no network.
  const commander = `file:${realpathSync(join(root, 'packages/tools/node_modules/commander'))}`
  write({ ...user, dependencies: files, resolutions: { ...files, commander } })
  const settings = {
    nodeLinker: 'node-modules',
    enableTelemetry: false,
    enableGlobalCache: false,
    enableNetwork: false,
  }
  writeFileSync(join(folder, '.yarnrc.yml'), JSON.stringify(settings))
  // If CI is set, Yarn creates no lockfile without this option.
  run(process.execPath, [join(root, 'node_modules/@yarnpkg/cli-dist/bin/yarn.js'), 'install', '--no-immutable'], folder)
}
