// Compiles the native programs of tests. An object is reused while its flags, its compiler and the content of every file
// that the compiler reads are unchanged. Keys contain no absolute path, so that copies of the tree share objects.
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { programs } from './table.mjs'

const root = resolve(import.meta.dirname, '../..')
const folder = join(root, 'native/build/programs')
const KEPT_MS = 24 * 60 * 60 * 1000
const commonFlags = [
  ...['-std=c++17', '-g1', '-Wall', '-Wextra', '-Werror', '-pthread'],
  ...['-Icuda', '-Inative', '-Itest', '-I../nvme-spec/include'],
]
/** Left out of keys, which do not depend on the location of the tree. */
const prefixMap = `-ffile-prefix-map=${root}=.`

/** A program that the compiler rejects; the message has the compiler's output. */
export class CompileError extends Error {
  name = 'CompileError'
}

const version = spawnSync('g++', ['-dumpfullversion', '-dumpmachine'], { encoding: 'utf8' }).stdout ?? ''

/** Returns why native programs cannot be compiled on this machine; undefined if they can. */
export function compilerProblem() {
  if (version === '') return 'g++ is not installed'
  const proof = join(folder, `compiler-${digest([version])}`)
  if (existsSync(proof)) return undefined
  mkdirSync(folder, { recursive: true })
  const input = '#include <linux/stddef.h>\n#include <thread>\nint main() {}\n'
  for (const sanitizer of ['address,undefined', 'thread']) {
    const args = [`-fsanitize=${sanitizer}`, '-pthread', '-x', 'c++', '-o', `${proof}.${process.pid}`, '-']
    const { status } = spawnSync('g++', args, { input })
    if (status !== 0) return `g++ lacks headers or the libraries of -fsanitize=${sanitizer}`
  }
  renameSync(`${proof}.${process.pid}`, proof)
  return undefined
}

/**
 * Returns the path of a program of the table, compiling it unless it is up to date. Throws a CompileError, also for a
 * warning.
 *
 * @param {string} name
 * @returns {Promise<string>}
 */
export async function built(name) {
  const program = programs[name]
  if (program === undefined) throw new Error(`no program ${name} in test/programs/table.mjs`)
  return build(name, program)
}

/**
 * As `built`, for a program that is not in the table.
 *
 * @param {string} name
 * @param {{ sources: readonly string[], flags: readonly string[] }} program
 * @returns {Promise<string>}
 */
export async function build(name, { sources, flags }) {
  mkdirSync(folder, { recursive: true })
  const toCompile = flags.filter((flag) => !flag.startsWith('-Wl,'))
  const objects = await Promise.all(sources.map((source) => objectOf(source, toCompile)))
  const scripts = flags.flatMap((flag) => /^-Wl,--version-script=(.*)/.exec(flag)?.[1] ?? [])
  const key = digest([...objects, ...flags, digestOf(scripts)])
  // The name is last, since Node recognizes an addon by its extension.
  const path = join(folder, `${key}-${name.replaceAll('/', '-')}`)
  if (touch(path)) return path
  await writeAtomically(path, (to) =>
    compiler(['-pthread', '-o', to, ...objects.map((object) => join(folder, object)), ...flags]),
  )
  return path
}

const compilations = new Map()

/**
 * Returns the name of a source's object in the folder, compiling it if necessary. A list of its input files is stored
 * next to it. Programs that share an object wait for one compilation.
 */
function objectOf(source, flags) {
  const kind = digest([version, source, ...commonFlags, ...flags])
  if (!compilations.has(kind)) compilations.set(kind, compileObject(kind, source, flags))
  return compilations.get(kind)
}

async function compileObject(kind, source, flags) {
  for (const list of readdirSync(folder)) {
    if (!list.startsWith(`${kind}-`) || !list.endsWith('.json')) continue
    const inputs = JSON.parse(readFileSync(join(folder, list), 'utf8'))
    const object = `${kind}-${digestOf(inputs)}.o`
    if (touch(join(folder, object))) {
      touch(join(folder, list))
      return object
    }
  }
  const rules = join(folder, `${kind}.${process.pid}.d`)
  const unfinished = join(folder, `${kind}.${process.pid}.o`)
  await compiler([...commonFlags, prefixMap, ...flags, '-MMD', '-MD', '-MF', rules, '-c', '-o', unfinished, source])
  const inputs = readFileSync(rules, 'utf8')
    .replace(/^[^:]*:/, '')
    .replaceAll('\\\n', ' ')
    .trim()
    .split(/\s+/)
  rmSync(rules)
  const name = `${kind}-${digestOf(inputs)}`
  renameSync(unfinished, join(folder, `${name}.o`))
  await writeAtomically(join(folder, `${kind}-${digest(inputs)}.json`), (to) =>
    writeFileSync(to, JSON.stringify(inputs)),
  )
  return `${name}.o`
}

/** Removes files that no build has used for a day. */
export function removeStalePrograms() {
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const { mtimeMs } = statSync(join(folder, name), { throwIfNoEntry: false }) ?? { mtimeMs: Infinity }
    if (mtimeMs < Date.now() - KEPT_MS) rmSync(join(folder, name), { force: true })
  }
}

/** Creates a file and gives it its name when it is complete, since another process may create the same file. */
async function writeAtomically(path, make) {
  await make(`${path}.${process.pid}`)
  renameSync(`${path}.${process.pid}`, path)
}

let running = 0
const waiting = []

/** Runs g++, at most one for each processor at a time. */
async function compiler(args) {
  if (running >= availableParallelism()) await new Promise((go) => waiting.push(go))
  else running++
  try {
    await promisify(execFile)('g++', args, { cwd: root, maxBuffer: 2 ** 26 })
  } catch (error) {
    throw new CompileError(`g++ ${args.join(' ')}\n${error.stderr ?? error.message}`)
  } finally {
    const next = waiting.shift()
    if (next === undefined) running--
    else next()
  }
}

/** Marks a file as used. Returns false if it does not exist. */
function touch(path) {
  if (!existsSync(path)) return false
  const now = new Date()
  utimesSync(path, now, now)
  return true
}

const contents = new Map()

/** Returns a digest of the contents of files. */
function digestOf(files) {
  return digest(
    files.map((file) => {
      const path = resolve(root, file)
      if (!contents.has(path)) contents.set(path, existsSync(path) ? digest([readFileSync(path)]) : 'missing')
      return contents.get(path)
    }),
  )
}

function digest(parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\0')
  return hash.digest('hex').slice(0, 24)
}
