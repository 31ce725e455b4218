// Runs the tests in environments that lack something that this machine has.
//
//   npm run test:in -- ENVIRONMENT   `npm run demo`, `npm test` and the part heavy, in a fresh clone of HEAD with an
//                                    empty HOME
//   npm run test:stripped            test files that inspect the machine (`machine` in test/tiers.json), in a copy of
//                                    this folder without native code, in the environment bare
//
// Every test must pass there or be skipped with a reason. docs/how-to/testing.md describes the environments.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Packages } from '../kmod/scripts/packages.mjs'
import { tiers } from './tiers.mjs'

const COREUTILS =
  'arch b2sum base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date dd df dir dircolors dirname du echo env expand expr factor false fmt fold groups head hostid id install join link ln logname ls md5sum mkdir mkfifo mknod mktemp mv nice nl nohup nproc numfmt od paste pathchk pinky pr printenv printf ptx pwd readlink realpath rm rmdir runcon seq sha1sum sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout touch tr true truncate tsort tty uname unexpand uniq unlink users vdir wc who whoami yes'
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const UNPRIVILEGED_ID = 65534

const root = join(import.meta.dirname, '..')
const scratch = mkdtempSync(join(tmpdir(), 'gpunvme-environment-'))
const folderOf = (name) => join(scratch, name)

/**
 * Differences from this machine: only `programs` are on PATH, the folders and files in `hides` are empty, `replaces`
 * mounts other files and folders over some, and an unprivileged user runs the tests unless `asRoot` is set.
 */
const environments = {
  bare: { programs: ['node', 'npm', 'npx', 'git', 'sh', ...COREUTILS.split(' ')] },
  'no-headers': { hides: ['/usr/include', '/usr/src', '/lib/modules'] },
  container: {
    hides: ['/sys', ...['modules', 'iomem', 'interrupts', 'mdstat', 'swaps', 'cmdline'].map((name) => `/proc/${name}`)],
    replaces: otherLibnvme,
    asRoot: true,
  },
}

process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1))

const [name, scope] = process.argv.slice(2)
if (!Object.hasOwn(environments, name ?? '')) {
  console.error(`environments: expected one of ${Object.keys(environments).join(', ')}, got ${name ?? 'nothing'}`)
  process.exit(2)
}
const { programs, hides = [], replaces = () => ({}), asRoot = false } = environments[name]
const isRoot = process.getuid() === 0
if (!isRoot && (hides.length > 0 || asRoot)) {
  console.error(`environments: ${name} needs root, to mount over folders in a separate mount namespace`)
  process.exit(2)
}

const [clone, bin, home] = ['clone', 'bin', 'home'].map(folderOf)
for (const folder of [bin, home]) mkdirSync(folder)
const commands = scope === '--machine' ? copyTree() : cloneHead()
if (programs !== undefined) linkPrograms(programs)
const mounts = [...hides.map(hide), ...Object.entries(replaces()).map(([path, by]) => `mount --bind ${by} ${path}`)]
if (isRoot && !asRoot) spawnSync('chown', ['-R', `${UNPRIVILEGED_ID}:${UNPRIVILEGED_ID}`, scratch])
const passed = commands.every(runInside)
process.exitCode = passed ? 0 : 1

/** Copies this folder without native build outputs. @returns the command to run. */
function copyTree() {
  const built = ['native/build', 'prebuilds', 'gpu-check/build'].map((path) => join('packages/cuda-native', path))
  const left = [...built, 'node_modules/.cache', '.reports', '.turbo'].map((path) => join(root, path))
  cpSync(root, clone, { recursive: true, verbatimSymlinks: true, filter: (path) => !left.includes(path) })
  return [['test', '--', ...tiers.machine]]
}

/** Clones HEAD. @returns the two commands of the README, and the one for the tests that only CI runs. */
function cloneHead() {
  spawnSync('git', ['clone', '--quiet', root, clone], { stdio: 'inherit' })
  return [['run', 'demo'], ['test'], ['run', 'test:all', '--', 'heavy']]
}

function linkPrograms(names) {
  for (const program of names) {
    const found = process.env.PATH.split(delimiter)
      .map((folder) => join(folder, program))
      .find((path) => existsSync(path) && !path.includes('node_modules'))
    if (found !== undefined) symlinkSync(found, join(bin, program))
  }
}

function hide(path) {
  const isFile = path.startsWith('/proc/')
  return `if [ -e ${path} ]; then ${isFile ? 'mount --bind /dev/null' : 'mount -t tmpfs none'} ${path}; fi`
}

/** Unpacks Debian 13's libnvme, whose names and bugs differ from those of the release that tests compare with. */
function otherLibnvme() {
  const tree = folderOf('libnvme')
  mkdirSync(folderOf('apt'))
  new Packages(folderOf('apt'), ['trixie']).unpack(['libnvme-dev'], tree)
  const replaced = ['/usr/include/nvme', '/usr/lib/x86_64-linux-gnu/pkgconfig/libnvme.pc']
  return Object.fromEntries(replaced.filter((path) => existsSync(path)).map((path) => [path, join(tree, path)]))
}

/** @returns whether `npm` with these arguments passed in the environment. */
function runInside(args) {
  const user = isRoot && !asRoot ? { uid: UNPRIVILEGED_ID, gid: UNPRIVILEGED_ID } : {}
  // Not the caller's PATH: for root's folders, an unprivileged user gets EACCES instead of ENOENT.
  const path = programs === undefined ? SYSTEM_PATH : bin
  const tier = scope === '--machine' ? { GPUNVME_TIER: 'stripped' } : {}
  const env = { HOME: home, PATH: path, TMPDIR: home, ...tier }
  // Mounting needs root, so setpriv changes the user afterwards.
  const asUser =
    user.uid === undefined ? [] : ['setpriv', `--reuid=${user.uid}`, `--regid=${user.gid}`, '--clear-groups']
  const [command, rest, options] =
    mounts.length === 0
      ? ['npm', args, user]
      : ['unshare', ['--mount', 'sh', '-ec', [...mounts, 'exec "$@"'].join('\n'), 'sh', ...asUser, 'npm', ...args], {}]
  const { status, error } = spawnSync(command, rest, { cwd: clone, env, stdio: 'inherit', ...options })
  if (error) console.error(`environments: ${error.message}`)
  return status === 0
}
