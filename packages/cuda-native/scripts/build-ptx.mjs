// Compiles cuda/kernels.cu to cuda/kernels.ptx, which every driver since CUDA 12.2 translates for its GPU. nvcc
// declares its own PTX version; the shipped file declares an older one, after ptxas has verified that it uses nothing
// newer.
//
//   node scripts/build-ptx.mjs [ROOT]          write the file if it is out of date
//   node scripts/build-ptx.mjs --check [ROOT]  write nothing, and fail if the file is out of date
//
// --measure builds gpu-check/kernels/measure.ptx instead, from kernels that are not shipped.
//
// ROOT is the repository, or a copy of it. Without nvcc, the script only compares the checksums of the sources with
// those in the file. With the nvcc version that compiled the file, it also compiles the sources and compares the
// result.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

/** Oldest PTX version with `.mmio`, and oldest GPU architecture that current compilers support. */
const shippedVersion = '8.2'
const floor = '75'
/** PTX versions that `lower` accepts; nvcc 13.0 writes 9.0. Check for changed semantics before adding another. */
const knownVersions = ['8.2', '9.0']
/** Hint on which bytes of a load are used, since PTX 8.3. The load itself does not depend on it. */
const droppedPragma = /^\t\.pragma "used_bytes_mask \d+";\n/gm
const knownPragmas = new Set(['"nounroll"'])

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean' }, measure: { type: 'boolean' } },
  allowPositionals: true,
})
const root = resolve(positionals[0] ?? join(import.meta.dirname, '../../..'))
const packageRoot = join(root, 'packages/cuda-native')
const specInclude = join(root, 'packages/nvme-spec/include')
/** Paths of the source and the PTX, relative to the package. */
const source = values.measure ? 'gpu-check/kernels/measure.cu' : 'cuda/kernels.cu'
const made = source.replace(/cu$/, 'ptx')
const target = join(packageRoot, made)

const remedy = 'run npm run gen on a machine with nvcc, and commit the result'
const shown = `packages/cuda-native/${made}`

try {
  main()
} catch (error) {
  console.error(`build-ptx: ${error.message}`)
  process.exitCode = 1
}

function main() {
  const sources = sourcesOf(source)
  const committed = existsSync(target) ? readFileSync(target, 'utf8') : undefined
  const problem = staleness(committed, sources)
  const compiler = compilerVersion()

  if (compiler === undefined) {
    if (problem !== undefined) throw new Error(`${shown} ${problem}; ${remedy}`)
    console.log(`${shown} matches the checksums of its sources; not recompiled: nvcc is not installed`)
    return
  }
  if (problem === undefined && !committed.includes(compilerLine(compiler))) {
    console.log(
      `${shown} matches the checksums of its sources; not recompiled: another nvcc than ${compiler} compiled it`,
    )
    return
  }
  if (values.check && problem !== undefined) throw new Error(`${shown} ${problem}; ${remedy}`)
  const text = heading(sources, compiler) + lower(compile())
  assemble(text)
  if (text === committed) return
  if (values.check) throw new Error(`${shown} differs from what nvcc ${compiler} compiles from its sources; ${remedy}`)
  writeFileSync(target, text)
  console.log(`wrote ${shown}`)
}

/** Returns why a PTX text is not compiled from these sources; undefined if it is. */
function staleness(text, sources) {
  if (text === undefined) return 'is missing'
  const named = [...text.matchAll(/^\/\/ {3}([0-9a-f]{64}) {2}(\S+)$/gm)].map(([, sum, name]) => [name, sum])
  const was = new Map(named)
  const changed = sources.filter(({ name, sum }) => was.get(name) !== sum).map(({ name }) => name)
  const gone = [...was.keys()].filter((name) => !sources.some((source) => source.name === name))
  const names = [...changed, ...gone]
  return names.length === 0 ? undefined : `does not match its sources: ${names.join(', ')} changed`
}

/** Returns the names and checksums of a source and of the headers that it includes, without those of the compiler. */
function sourcesOf(first) {
  const found = new Map()
  const visit = (path, name) => {
    if (found.has(name)) return
    const text = significant(readFileSync(path, 'utf8'))
    found.set(name, createHash('sha256').update(text).digest('hex'))
    for (const [, quoted] of text.matchAll(/^#include "([^"]+)"/gm)) {
      const beside = join(dirname(name), quoted)
      const header = existsSync(join(packageRoot, beside)) ? beside : `cuda/${quoted}`
      visit(join(packageRoot, header), header)
    }
    for (const [, spec] of text.matchAll(/^#include <(gpunvme\/[^>]+)>/gm)) visit(join(specInclude, spec), spec)
  }
  visit(join(packageRoot, first), first)
  return [...found].map(([name, sum]) => ({ name, sum })).sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** Normalizes comments and whitespace of a source, so that a corrected comment does not make the PTX out of date. */
function significant(text) {
  return text
    .replace(/"(?:\\.|[^"\\\n])*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) => (part.startsWith('"') ? part : ' '))
    .replace(/[ \t\r]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim()
}

/** Returns the version of nvcc, such as 13.0.88; undefined if it is not installed. */
function compilerVersion() {
  const { error, output } = run('nvcc', ['--version'])
  return error === undefined ? (/ V(\d+(?:\.\d+)+)/.exec(output)?.[1] ?? 'of an unknown version') : undefined
}

function compile() {
  return inScratch((folder) => {
    const ptx = join(folder, 'kernels.ptx')
    // Paths relative to the package, so that the output contains no path of this machine.
    const { status, output } = run('nvcc', [
      ...['-std=c++17', '-ptx', `-arch=compute_${floor}`, '-Werror', 'all-warnings'],
      ...['-I../nvme-spec/include', '-Icuda', '-o', ptx, source],
    ])
    if (status !== 0) throw new Error(`${source} does not compile\n${output}`)
    return readFileSync(ptx, 'utf8')
  })
}

/** Assembles a text. ptxas rejects it if it uses anything newer than the PTX version it declares. */
function assemble(text) {
  inScratch((folder) => {
    const ptx = join(folder, 'kernels.ptx')
    writeFileSync(ptx, text)
    const { status, output } = run('ptxas', [`-arch=sm_${floor}`, '-o', join(folder, 'kernels.cubin'), ptx])
    if (status !== 0) throw new Error(`the output of nvcc is not valid in PTX ${shippedVersion}\n${output}`)
  })
}

/** Converts the compiler's output to the shipped PTX version. Throws if it contains anything unknown. */
function lower(text) {
  const start = text.indexOf('.version ')
  // Only comments, which name the compiler's build, may precede .version.
  if (
    start < 0 ||
    text
      .slice(0, start)
      .replace(/^\/\/.*$/gm, '')
      .trim() !== ''
  )
    throw new Error('expected only comments before .version in the output of nvcc')
  const version = /^\.version (\S+)\n\.target (\S+)\n\.address_size (\S+)\n/.exec(text.slice(start))
  if (version === null || !knownVersions.includes(version[1]))
    throw new Error(`expected PTX ${knownVersions.join(' or ')} from nvcc, got ${version?.[1]}`)
  if (version[2] !== `sm_${floor}` || version[3] !== '64')
    throw new Error(`expected sm_${floor} and 64 bits from nvcc, got ${version[2]} and ${version[3]} bits`)
  const body = text
    .slice(start)
    .replace(/^\.version .*/, `.version ${shippedVersion}`)
    .replace(droppedPragma, '')
  for (const [, pragma] of body.matchAll(/\.pragma\s+([^;]*);/g))
    if (!knownPragmas.has(pragma))
      throw new Error(`expected only .pragma ${[...knownPragmas].join()} from nvcc, got ${pragma}`)
  // Debug information contains file names, names of internal objects derive from paths, and compiler builds have
  // numbers.
  const machine = /^.*(?:\.file\b|\.loc\b|\.section\b|_INTERNAL_|\bCL-\d|(?:^|[\s"'=])\/\w).*$/m.exec(body)
  if (machine !== null) throw new Error(`the output of nvcc may depend on this machine: ${machine[0].trim()}`)
  return `${body.trimEnd()}\n`
}

function heading(sources, compiler) {
  return [
    `// The kernels of ${source}, for GPUs of compute capability 7.5 and later. Generated by npm run gen, which`,
    '// needs nvcc. SHA-256 of the sources as the compiler reads them, without comments:',
    '//',
    ...sources.map(({ name, sum }) => `//   ${sum}  ${name}`),
    '//',
    compilerLine(compiler),
    '',
    '',
  ].join('\n')
}

function compilerLine(compiler) {
  return `// Compiled by nvcc ${compiler}. The version below is an older one, as which ptxas has assembled this text.`
}

function inScratch(use) {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-ptx-'))
  try {
    return use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function run(command, args) {
  // nvcc would read additional options from these variables.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^NVCC_\w+_FLAGS$/.test(name)))
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    cwd: packageRoot,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  return { error, status, output: error?.message ?? stdout + stderr }
}
