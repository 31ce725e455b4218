// Finds a QEMU that is a vfio-user client (10.1 or later) and prints it as JSON: { program, arguments, version }.
//
//   node scripts/vfio-user-qemu.mjs
//
// GPUNVME_VFIO_USER_QEMU selects one. Otherwise it is the one on PATH, or Debian's backport, which apt downloads and
// which is unpacked with its libraries in node_modules/.cache, not installed.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Packages, run } from '../kmod/scripts/packages.mjs'

const CACHE = join(import.meta.dirname, '../node_modules/.cache/gpunvme-qemu')
const PACKAGE = 'qemu-system-x86'
const SUITE = 'trixie-backports'
const PROGRAM = 'qemu-system-x86_64'
const DEVICE = 'vfio-user-pci'

const named = process.env.GPUNVME_VFIO_USER_QEMU
const found = named === undefined ? (usable({ program: PROGRAM, arguments: [] }) ?? unpacked()) : asked(named)
process.stdout.write(`${JSON.stringify(found)}\n`)

/** Returns the command with its version if its QEMU has the device. */
function usable(command) {
  const ask = (...args) => spawnSync(command.program, [...command.arguments, ...args], { encoding: 'utf8' })
  // Listing all devices would load modules, some of which may be those of another QEMU.
  const { error, stdout } = ask('-device', `${DEVICE},help`)
  if (error || !stdout.startsWith(`${DEVICE} options:`)) return undefined
  return { ...command, version: /version (\S+)/.exec(ask('--version').stdout)?.[1] }
}

function asked(program) {
  const command = usable({ program, arguments: [] })
  if (command === undefined) throw new Error(`GPUNVME_VFIO_USER_QEMU: ${program} has no device ${DEVICE}`)
  return command
}

function unpacked() {
  const tree = join(CACHE, 'tree')
  if (!existsSync(tree)) download(tree)
  const usr = join(tree, 'usr')
  const libraries = join(usr, 'lib/x86_64-linux-gnu')
  // Without QEMU_MODULE_DIR, QEMU looks for its modules where the package would be installed.
  const command = usable({
    program: 'env',
    arguments: [
      `QEMU_MODULE_DIR=${join(libraries, 'qemu')}`,
      ...[join(libraries, 'ld-linux-x86-64.so.2'), '--library-path', libraries, join(usr, 'bin', PROGRAM)],
      ...['-L', join(usr, 'share/qemu'), '-L', join(usr, 'share/seabios')],
    ],
  })
  if (command === undefined)
    throw new Error(`the QEMU in ${tree} does not run; remove this folder to download it again`)
  return command
}

/** Downloads the package and the libraries that it depends on, as apt resolves them with no package installed. */
function download(tree) {
  const packages = new Packages(CACHE, [SUITE, 'trixie'])
  const env = { ...process.env, APT_CONFIG: join(CACHE, 'apt.conf') }
  const plan = run('apt-get', ['install', '--simulate', '--no-install-recommends', '-t', SUITE, PACKAGE], { env })
  const names = [...plan.matchAll(/^Inst (\S+) (?:\[\S+\] )?\((\S+)/gm)].map(
    ([, name, version]) => `${name}=${version}`,
  )
  packages.unpack(
    names.filter((name) => /^(?:lib|zlib|qemu-|seabios|ipxe-qemu)/.test(name)),
    tree,
  )
}
