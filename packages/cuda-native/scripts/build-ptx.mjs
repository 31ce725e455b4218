// Makes cuda/kernels.ptx of cuda/kernels.cu: the text that every driver since CUDA 12.2 translates for its GPU. nvcc
// writes it for its own PTX version; what is shipped says an older one, after ptxas has agreed that nothing newer is in it.
//
//   node scripts/build-ptx.mjs [ROOT]          write it, where sources or compiler would make another one
//   node scripts/build-ptx.mjs --check [ROOT]  write nothing; a text that is not of these sources is an error
//
// With --measure it is gpu-check/kernels/measure.ptx instead, of kernels that are not shipped.
//
// ROOT is the repository, or a copy of it. Without nvcc a text that is of these sources passes, by their checksums; with
// nvcc of the version that made it, it is also made again and compared.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

/** The oldest PTX that has `.mmio`, and the oldest GPU that today's compilers know. */
const shippedVersion = '8.2'
const floor = '75'
/** What nvcc 13.0 writes. Another version may mean other things by the same words: look at it, then name it here. */
const knownVersions = ['8.2', '9.0']
/** Advice on which bytes of a load are used, since PTX 8.3. Without it the load is what it says. */
const droppedPragma = /^\t\.pragma "used_bytes_mask \d+";\n/gm
const knownPragmas = new Set(['"nounroll"'])

const { values, positionals } = parseArgs({
  options: { check: { type: 'boolean' }, measure: { type: 'boolean' } },
  allowPositionals: true,
})
const root = resolve(positionals[0] ?? join(import.meta.dirname, '../../..'))
const packageRoot = join(root, 'packages/cuda-native')
const specInclude = join(root, 'packages/nvme-spec/include')
/** From the package's root: the source, and what is made of it. */
const source = values.measure ? 'gpu-check/kernels/measure.cu' : 'cuda/kernels.cu'
const made = source.replace(/cu$/, 'ptx')
const target = join(packageRoot, made)

const remedy = 'run npm run gen on a machine with nvcc, and commit what it writes'
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
    console.log(`${shown} is of these sources, by their checksums; nvcc is not here to make it again`)
    return
  }
  if (problem === undefined && !committed.includes(compilerLine(compiler))) {
    console.log(`${shown} is of these sources, by their checksums; nvcc ${compiler} is not the one that made it`)
    return
  }
  if (values.check && problem !== undefined) throw new Error(`${shown} ${problem}; ${remedy}`)
  const text = heading(sources, compiler) + lower(compile())
  assemble(text)
  if (text === committed) return
  if (values.check) throw new Error(`${shown} is not what nvcc ${compiler} makes of its sources; ${remedy}`)
  writeFileSync(target, text)
  console.log(`wrote ${shown}`)
}

/** Why a text is not of these sources; undefined where it is. */
function staleness(text, sources) {
  if (text === undefined) return 'is missing'
  const named = [...text.matchAll(/^\/\/ {3}([0-9a-f]{64}) {2}(\S+)$/gm)].map(([, sum, name]) => [name, sum])
  const was = new Map(named)
  const changed = sources.filter(({ name, sum }) => was.get(name) !== sum).map(({ name }) => name)
  const gone = [...was.keys()].filter((name) => !sources.some((source) => source.name === name))
  const names = [...changed, ...gone]
  return names.length === 0 ? undefined : `is not of these sources: ${names.join(', ')} changed since`
}

/** A source and all that it includes, other than the compiler's own headers, by their checksums. */
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

/** What the compiler sees of a source: a comment that is put right makes no new text necessary. */
function significant(text) {
  return text
    .replace(/"(?:\\.|[^"\\\n])*"|\/\/[^\n]*|\/\*[^]*?\*\//g, (part) => (part.startsWith('"') ? part : ' '))
    .replace(/[ \t\r]+/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim()
}

/** The version of nvcc, such as 13.0.88; undefined where there is none. */
function compilerVersion() {
  const { error, output } = run('nvcc', ['--version'])
  return error === undefined ? (/ V(\d+(?:\.\d+)+)/.exec(output)?.[1] ?? 'of an unknown version') : undefined
}

function compile() {
  return inScratch((folder) => {
    const ptx = join(folder, 'kernels.ptx')
    // Relative paths, from the package: nothing of this machine can get into the text.
    const { status, output } = run('nvcc', [
      ...['-std=c++17', '-ptx', `-arch=compute_${floor}`, '-Werror', 'all-warnings'],
      ...['-I../nvme-spec/include', '-Icuda', '-o', ptx, source],
    ])
    if (status !== 0) throw new Error(`${source} does not compile\n${output}`)
    return readFileSync(ptx, 'utf8')
  })
}

/** ptxas refuses what the version that the text says does not know. */
function assemble(text) {
  inScratch((folder) => {
    const ptx = join(folder, 'kernels.ptx')
    writeFileSync(ptx, text)
    const { status, output } = run('ptxas', [`-arch=sm_${floor}`, '-o', join(folder, 'kernels.cubin'), ptx])
    if (status !== 0) throw new Error(`PTX ${shippedVersion} has not all that nvcc wrote\n${output}`)
  })
}

/** The compiler's text as PTX of the version that is shipped. Throws on everything that nobody has looked at. */
function lower(text) {
  const start = text.indexOf('.version ')
  // Before it there are comments alone, with the build of the compiler.
  if (
    start < 0 ||
    text
      .slice(0, start)
      .replace(/^\/\/.*$/gm, '')
      .trim() !== ''
  )
    throw new Error('nvcc wrote something before .version that is no comment')
  const version = /^\.version (\S+)\n\.target (\S+)\n\.address_size (\S+)\n/.exec(text.slice(start))
  if (version === null || !knownVersions.includes(version[1]))
    throw new Error(`nvcc wrote PTX ${version?.[1]}; known are ${knownVersions.join(' and ')}`)
  if (version[2] !== `sm_${floor}` || version[3] !== '64')
    throw new Error(`nvcc wrote for ${version[2]}, ${version[3]} bits; expected sm_${floor}, 64 bits`)
  const body = text
    .slice(start)
    .replace(/^\.version .*/, `.version ${shippedVersion}`)
    .replace(droppedPragma, '')
  for (const [, pragma] of body.matchAll(/\.pragma\s+([^;]*);/g))
    if (!knownPragmas.has(pragma)) throw new Error(`nvcc wrote .pragma ${pragma}; known is ${[...knownPragmas].join()}`)
  // Debug information names files; names of a file's own objects are made of its path; builds are numbered.
  const machine = /^.*(?:\.file\b|\.loc\b|\.section\b|_INTERNAL_|\bCL-\d|(?:^|[\s"'=])\/\w).*$/m.exec(body)
  if (machine !== null) throw new Error(`nvcc wrote what may be of this machine alone: ${machine[0].trim()}`)
  return `${body.trimEnd()}\n`
}

function heading(sources, compiler) {
  return [
    `// The kernels of ${source}, for GPUs from compute capability 7.5 on. Generated: npm run gen writes it where`,
    '// nvcc is. Made of these sources, by the SHA-256 of what the compiler sees of them:',
    '//',
    ...sources.map(({ name, sum }) => `//   ${sum}  ${name}`),
    '//',
    compilerLine(compiler),
    '',
    '',
  ].join('\n')
}

function compilerLine(compiler) {
  return `// By nvcc ${compiler}. The version below is an older one: ptxas has assembled the text as what it says it is.`
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
  // Options that nvcc takes from there would make another text.
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^NVCC_\w+_FLAGS$/.test(name)))
  const { error, status, stdout, stderr } = spawnSync(command, args, {
    cwd: packageRoot,
    env,
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  })
  return { error, status, output: error?.message ?? stdout + stderr }
}
