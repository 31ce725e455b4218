// Prepares trees to build kernel modules in, from unpacked Debian header packages. The compiler and the C library of
// this machine may be older than those that the packages require.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { Packages } from './packages.mjs'

/** Kernel series, each with the Debian suite that has it and the suffix of its releases, as a regular expression. */
export const SERIES = {
  6.1: { suite: 'bookworm', suffix: '' },
  6.12: { suite: 'bookworm-backports', suffix: '\\+deb12' },
  7.2: { suite: 'trixie-backports', suffix: '\\+deb13' },
}
/** Suite and packages of a newer C library, for tools that need one. */
const LIBRARY_SUITE = 'trixie'
const LIBRARIES = ['libc6', 'libelf1t64', 'libzstd1', 'zlib1g']

export const CACHE = join(import.meta.dirname, '../../node_modules/.cache/gpunvme-kmod')

let packages

function archive() {
  packages ??= new Packages(CACHE, [...Object.values(SERIES).map(({ suite }) => suite), LIBRARY_SUITE])
  return packages
}

/** Prepares the headers of a series: the unpacked release, or else the newest. @returns { release, tree } */
export function headers(series) {
  const { suffix } = SERIES[series]
  const release = unpackedBefore(series) ?? archive().newest(new RegExp(`^linux-headers-(${versionOf(series)})-amd64$`))
  if (release === undefined) throw new Error(`apt has no headers for Linux ${series}`)
  const tree = join(CACHE, `headers-${release}`)
  const kbuild = suffix === '' ? `linux-kbuild-${series}` : `linux-kbuild-${release}`
  const names = ['amd64', 'common'].map((flavour) => `linux-headers-${release}-${flavour}`)
  if (!existsSync(tree)) archive().unpack([...names, kbuild], tree)
  relocate(tree, release)
  return { release: `${release}-amd64`, tree }
}

/**
 * Returns the release of a series that is unpacked already; undefined if there is none. To get the newest release,
 * remove node_modules/.cache/gpunvme-kmod.
 */
function unpackedBefore(series) {
  const pattern = new RegExp(`^headers-(${versionOf(series)})$`)
  return existsSync(CACHE) ? readdirSync(CACHE).flatMap((name) => pattern.exec(name)?.[1] ?? [])[0] : undefined
}

/** Returns a regular expression for the releases of a series. */
function versionOf(series) {
  return `${series.replace('.', '\\.')}\\.[\\d-]+${SERIES[series].suffix}`
}

/** Unpacks the kernel, its modules and busybox. @returns the folder with all three */
export function image(release) {
  const tree = join(CACHE, `image-${release}`)
  if (existsSync(tree)) return tree
  const names = ['binary', 'modules', 'base'].map((part) => `linux-${part}-${release}`)
  archive().unpack([...names, 'busybox-static'], tree)
  return tree
}

/** Returns the arguments of make to build the module in `folder` for a kernel. */
export function makeArguments({ release, tree }, folder) {
  const compiler = join(tree, 'gcc')
  const sources = join(tree, 'usr/src', `linux-headers-${release}`)
  return ['-C', sources, `M=${folder}`, `CC=${compiler}`, 'GPUNVME_WERROR=y', 'modules']
}

/** Adapts an unpacked tree to its path and to the tools of this machine. */
function relocate(tree, release) {
  if (existsSync(join(tree, 'gcc'))) return
  const build = join(tree, 'usr/src', `linux-headers-${release}-amd64`)
  const makefile = readFileSync(join(build, 'Makefile'), 'utf8')
  writeFileSync(join(build, 'Makefile'), makefile.replaceAll('/usr/src/', join(tree, 'usr/src/')))
  // With vmlinux, pahole would generate BPF types, which the module does not need.
  rmSync(join(build, 'vmlinux'), { force: true })
  const kbuild = join(
    tree,
    'usr/lib',
    readdirSync(join(tree, 'usr/lib')).find((name) => name.startsWith('linux-kbuild-')),
  )
  adaptTools(kbuild)
  program(join(tree, 'gcc'), compilerOf())
}

/** Returns a script that runs gcc without an option that older versions do not support. */
function compilerOf() {
  const option = '-fmin-function-alignment=16'
  const known = spawnSync('gcc', [option, '-E', '-x', 'c', '/dev/null']).status === 0
  if (known) return '#!/bin/sh\nexec gcc "$@"\n'
  return `#!/bin/sh
for argument do
  shift
  case $argument in ${option.replace('16', '*')}) ;; *) set -- "$@" "$argument" ;; esac
done
exec gcc "$@"
`
}

/** If this machine's C library is too old for the package's programs, makes them run with a newer one. */
function adaptTools(kbuild) {
  const leaves = {
    'scripts/basic/fixdep': 'scripts/basic/fixdep',
    'scripts/mod/modpost': 'scripts/mod/modpost.real-lsb-64',
    'tools/objtool/objtool': 'tools/objtool/objtool.real-x86',
  }
  const runs = (leaf) => !/GLIBC_.* not found/.test(spawnSync(join(kbuild, leaf), { encoding: 'utf8' }).stderr)
  if (Object.values(leaves).every(runs)) return
  const library = join(CACHE, 'libraries')
  const names = LIBRARIES.map((name) => `${name}/${LIBRARY_SUITE}`)
  if (!existsSync(library)) archive().unpack(names, library)
  const paths = join(library, 'usr/lib/x86_64-linux-gnu')
  for (const [tool, leaf] of Object.entries(leaves)) {
    const real = join(kbuild, 'real', basename(leaf))
    mkdirSync(join(kbuild, 'real'), { recursive: true })
    renameSync(join(kbuild, leaf), real)
    const loader = join(paths, 'ld-linux-x86-64.so.2')
    program(join(kbuild, tool), `#!/bin/sh\nexec ${loader} --library-path ${paths} ${real} "$@"\n`)
  }
}

function program(path, text) {
  writeFileSync(path, text)
  chmodSync(path, 0o755)
}
