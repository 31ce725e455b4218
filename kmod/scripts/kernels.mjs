// Compiles the module for kernels of several series, with warnings as errors, and says what it met.
//
//   node kmod/scripts/kernels.mjs [SERIES …]     6.1, 6.12 and 7.2 when none is given
//   node kmod/scripts/kernels.mjs --guest SERIES prints, as JSON, what a guest with that kernel is made of
//   node kmod/scripts/kernels.mjs --image SERIES the same without the module, which is not compiled
//
// Debian's headers are downloaded with apt, unpacked in node_modules/.cache and never installed.
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './packages.mjs'
import { headers, image, makeArguments, SERIES } from './trees.mjs'

const root = join(import.meta.dirname, '../..')
const kmod = join(root, 'kmod')

/** Sources in a folder of their own, with what was built of them elsewhere left out. */
function copySources(folder) {
  run('make', ['-s', '-C', kmod, 'dkms-tree', `TO=${folder}`])
  return folder
}

/** Builds it. @returns { release, seconds, symbols, probes } and leaves gpunvme.ko in `folder` */
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

function guest(series) {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-kmod-'))
  const { release, tree } = build(series, folder)
  cpSync(join(kmod, 'test/module'), join(folder, 'test'), { recursive: true })
  run('make', makeArguments({ release, tree }, join(folder, 'test')))
  return { folder, ...partsOf(release) }
}

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
    throw new Error(`expected series of ${Object.keys(SERIES).join(', ')}, got ${unknown.join(' ')}`)
  const gcc = run('gcc', ['--version']).split('\n')[0]
  console.log(gcc)
  for (const series of asked.length > 0 ? asked : Object.keys(SERIES)) {
    const folder = mkdtempSync(join(tmpdir(), 'gpunvme-kmod-'))
    try {
      const { release, seconds, symbols, probes } = build(series, folder)
      const objects = readdirSync(folder).filter((name) => name.endsWith('.c') && !name.endsWith('.mod.c')).length
      console.log(
        `${release}: ${objects} files, ${symbols} symbols of the kernel, no warning, ${seconds.toFixed(1)} s; has ${probes}`,
      )
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
}
