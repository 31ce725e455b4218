// Compiles the module for kernels of several series, with warnings as errors, and prints a summary of each build.
//
//   node kmod/scripts/kernels.mjs [SERIES …]      default: 6.1, 6.12 and 7.2
//   node kmod/scripts/kernels.mjs --guest SERIES  build the module; print the parts of a guest with that kernel as JSON
//   node kmod/scripts/kernels.mjs --image SERIES  print the parts of a guest without the module
//
// apt downloads Debian's packages, which are unpacked in node_modules/.cache and not installed.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './packages.mjs'
import { headers, image, makeArguments, SERIES } from './trees.mjs'

const root = join(import.meta.dirname, '../..')
const kmod = join(root, 'kmod')

/** Copies the sources into a folder, without build products. @returns the folder */
function copySources(folder) {
  run('make', ['-s', '-C', kmod, 'dkms-tree', `TO=${folder}`])
  return folder
}

/** Builds gpunvme.ko in `folder`. @returns { release, tree, ko, seconds, symbols, probes } */
function build(series, folder) {
  const kernel = headers(series)
  copySources(folder)
  const started = performance.now()
  const { status, stdout, stderr } = spawnSync('make', makeArguments(kernel, folder), { encoding: 'utf8' })
  const output = stdout + stderr
  if (status !== 0) throw new Error(`gpunvme does not compile for ${kernel.release}:\n${output}`)
  const warnings = output.split('\n').filter((line) => /: warning: |^WARNING: |undefined!/.test(line))
  if (warnings.length > 0) throw new Error(`warnings for ${kernel.release}:\n${warnings.join('\n')}`)
  const ko = join(folder, 'gpunvme.ko')
  return {
    ...kernel,
    ko,
    seconds: (performance.now() - started) / 1000,
    symbols: run('nm', ['-u', ko]).trim().split('\n').length,
    probes: run('sed', ['-n', 's/^#define GPUNVME_HAS_//p', join(folder, 'probes.h')])
      .trim()
      .split('\n')
      .join(' '),
  }
}

/** Builds both modules. @returns the folder with them, and the other parts of a guest */
function guest(series) {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-kmod-'))
  const { release, tree } = build(series, folder)
  cpSync(join(kmod, 'test/module'), join(folder, 'test'), { recursive: true })
  run('make', makeArguments({ release, tree }, join(folder, 'test')))
  return { folder, ...partsOf(release) }
}

/** @returns the release, and the paths of its kernel, modules and busybox */
function partsOf(release) {
  const parts = image(release)
  const place = (...paths) => paths.map((path) => join(parts, path)).find((path) => existsSync(path))
  return {
    release,
    kernel: place(`usr/lib/modules/${release}/vmlinuz`, `boot/vmlinuz-${release}`),
    modules: place(`usr/lib/modules/${release}`, `lib/modules/${release}`),
    busybox: place('usr/bin/busybox', 'bin/busybox'),
  }
}

const [option, named, ...others] = process.argv.slice(2)
if (option === '--guest' && Object.hasOwn(SERIES, named ?? '') && others.length === 0) {
  process.stdout.write(`${JSON.stringify(guest(named))}\n`)
} else if (option === '--image' && Object.hasOwn(SERIES, named ?? '') && others.length === 0) {
  process.stdout.write(`${JSON.stringify(partsOf(headers(named).release))}\n`)
} else {
  const asked = process.argv.slice(2)
  const unknown = asked.filter((series) => !Object.hasOwn(SERIES, series))
  if (unknown.length > 0)
    throw new Error(`unknown series: expected ${Object.keys(SERIES).join(', ')}, got ${unknown.join(' ')}`)
  const gcc = run('gcc', ['--version']).split('\n')[0]
  console.log(gcc)
  for (const series of asked.length > 0 ? asked : Object.keys(SERIES)) {
    const folder = mkdtempSync(join(tmpdir(), 'gpunvme-kmod-'))
    try {
      const { release, seconds, symbols, probes } = build(series, folder)
      const objects = readdirSync(folder).filter((name) => name.endsWith('.c') && !name.endsWith('.mod.c')).length
      console.log(
        `${release}: ${objects} files, ${symbols} kernel symbols, no warnings, ${seconds.toFixed(1)} s; interfaces: ${probes}`,
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
}
