// Builds the addons. If a tool is missing, prints what is missing. That is an error, except in the repository's build
// and for packing, which continue without the addons. Addons that are up to date are not rebuilt. A second build in the
// same folder waits for the first.
//
//   node scripts/build-native.mjs              build
//   node scripts/build-native.mjs --prebuilds  build if possible, and copy the addons to prebuilds/
//   node scripts/build-native.mjs --required   as --prebuilds, but a missing tool is an error: for releases
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'

const require = createRequire(import.meta.url)
const root = join(import.meta.dirname, '..')
const native = join(root, 'native')
const build = join(native, 'build')
const names = ['gpunvme_host', 'gpunvme_cuda']
const addons = names.map((name) => join(build, 'Release', `${name}.node`))
const stampFile = join(build, 'gpunvme-stamp')
const inRepository = existsSync(join(root, '..', '..', 'pnpm-workspace.yaml'))

const flags = process.argv.slice(2)
const unknown = flags.filter((flag) => !['--prebuilds', '--required'].includes(flag))
if (unknown.length > 0) fail(`unknown option ${unknown.join(' ')}; known are --prebuilds and --required`)

const { GPUNVME_NODEDIR } = process.env
if (GPUNVME_NODEDIR !== undefined && !hasHeaders(GPUNVME_NODEDIR)) {
  fail(`GPUNVME_NODEDIR=${GPUNVME_NODEDIR} has no include/node with node_api.h and common.gypi`)
}

lock()
// Packing may print its own output to stdout.
const say = flags.length > 0 ? console.error : console.log
const wasFresh = isFresh()
const reason = wasFresh ? undefined : missing()
if (reason === undefined) {
  if (!wasFresh) compile()
  say(`${wasFresh ? 'Up to date' : 'Built'}: ${addons.join(', ')}`)
  if (flags.length > 0) copyToPrebuilds()
} else if (flags.includes('--required') || !(inRepository || flags.includes('--prebuilds'))) {
  fail(`${names.join(' and ')} cannot be built: ${reason}`)
} else {
  // Removes addons of other sources, which would be worse than none.
  for (const addon of addons) rmSync(addon, { force: true })
  if (flags.includes('--prebuilds')) rmSync(join(root, 'prebuilds'), { recursive: true, force: true })
  say(`${names.join(' and ')} are not built: ${reason}. Everything else works without them.`)
}

/**
 * Runs the build in a process that holds the folder's lock until it exits. Without `flock`, as on a machine without a
 * compiler, returns and continues without a lock.
 */
function lock() {
  if (process.env.GPUNVME_BUILD_LOCKED === root) return
  try {
    mkdirSync(build, { recursive: true })
  } catch (error) {
    fail(`cannot build in ${build}: ${error.message}`)
  }
  const command = [process.execPath, process.argv[1], ...flags]
  const waited = ['--timeout', '600', '--conflict-exit-code', '75', join(build, 'gpunvme-lock')]
  const { status, error } = spawnSync('flock', [...waited, ...command], {
    stdio: 'inherit',
    env: { ...process.env, GPUNVME_BUILD_LOCKED: root },
  })
  if (error?.code === 'ENOENT') return
  if (status === 75) fail('another build in this folder did not end within 10 minutes')
  process.exit(status ?? 1)
}

/** Returns why the addons cannot be built here; undefined if they can. */
function missing() {
  if (process.platform !== 'linux') return `they require Linux; this is ${process.platform}`
  const runs = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0
  const compiler = process.env.CXX ?? 'g++'
  const tools = [compiler, 'make', 'python3'].filter((tool) => !runs(tool))
  if (tools.length > 0) return `${tools.join(', ')} not found`
  const headers = spawnSync(compiler, ['-x', 'c++', '-fsyntax-only', '-'], {
    input: '#include <linux/magic.h>\n#include <thread>\n',
  })
  if (headers.status !== 0) return `${compiler} does not find the headers of Linux or of the C++ library`
  if (nodeGyp() === undefined) return 'node-gyp not found; npm i node-gyp node-api-headers installs it'
  if (headersFolder() === undefined) {
    return 'no headers of Node found; npm i node-api-headers installs them, or set GPUNVME_NODEDIR to their prefix'
  }
  return undefined
}

function isFresh() {
  return (
    addons.every((addon) => existsSync(addon)) && existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp()
  )
}

/**
 * Returns a hash of the inputs: sources, this script, the compiler's name, headers. With N-API, Node's version is
 * irrelevant.
 */
function stamp() {
  const hash = createHash('sha256')
  for (const folder of [native, join(root, 'cuda'), join(specInclude(), 'gpunvme')]) {
    const names = readdirSync(folder, { recursive: true }).filter((name) => !name.startsWith('build'))
    const sources = names.filter((name) => /\.(cc|h|cuh|gypi?)$/.test(name))
    for (const name of sources.sort()) hash.update(name).update(readFileSync(join(folder, name)))
  }
  hash.update(readFileSync(join(import.meta.dirname, 'build-native.mjs')))
  return hash.update(JSON.stringify([process.arch, process.env.CXX, headersFolder()])).digest('hex')
}

function compile() {
  rmSync(stampFile, { force: true })
  mkdirSync(build, { recursive: true })
  // Warnings are errors in the repository only: other compilers may have other warnings.
  const args = ['-C', native, 'configure', 'build', '--loglevel=error', `--nodedir=${headersFolder()}`]
  const { status } = spawnSync(process.execPath, [nodeGyp(), ...args], {
    // A relative path: objects stay valid in a copy of the repository.
    env: {
      // Without it, node-gyp compiles one file at a time.
      JOBS: 'max',
      ...process.env,
      GYP_DEFINES: `spec_include='${relative(native, specInclude())}'${inRepository ? ' warnings=-Werror' : ''}`,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0 || !addons.every((addon) => existsSync(addon))) fail(`${names.join(' and ')} do not compile`)
  writeFileSync(stampFile, stamp())
}

function copyToPrebuilds() {
  const folder = join(root, 'prebuilds', `${process.platform}-${process.arch}`)
  rmSync(join(root, 'prebuilds'), { recursive: true, force: true })
  for (const addon of addons) cpSync(addon, join(folder, basename(addon)))
}

/** Returns the path of node-gyp: the package's own in the repository, otherwise an installed one or npm's. */
function nodeGyp() {
  const npm = join(dirname(realpathSync(process.execPath)), '../lib/node_modules/npm/package.json')
  for (const from of [import.meta.url, npm]) {
    try {
      return createRequire(from).resolve('node-gyp/bin/node-gyp.js')
    } catch {
      // not there
    }
  }
  return undefined
}

/** Returns the folder of gpunvme/nvme_spec.h, the only header of another package that device code includes. */
function specInclude() {
  return join(dirname(require.resolve('@gpunvme/nvme-spec/package.json')), 'include')
}

/** Returns a prefix with include/node. Without it, node-gyp would download the headers. */
function headersFolder() {
  const prefixes = [GPUNVME_NODEDIR, process.env.npm_config_nodedir, dirname(dirname(realpathSync(process.execPath)))]
  return prefixes.find((prefix) => prefix !== undefined && hasHeaders(prefix)) ?? headersOfPackage()
}

function hasHeaders(prefix) {
  return ['node_api.h', 'common.gypi'].every((file) => existsSync(join(prefix, 'include/node', file)))
}

/**
 * Returns a prefix with the N-API headers of npm's node-api-headers, the only headers of Node that the addons include.
 */
function headersOfPackage() {
  let headers
  try {
    headers = require('node-api-headers').include_dir
  } catch {
    return undefined
  }
  const prefix = join(build, 'headers')
  cpSync(headers, join(prefix, 'include/node'), { recursive: true })
  writeFileSync(
    join(prefix, 'include/node/common.gypi'),
    "{ 'target_defaults': { 'default_configuration': 'Release', 'configurations': { 'Release': { 'cflags': ['-O2'] } } } }\n",
  )
  return prefix
}

function fail(message) {
  console.error(`build-native: ${message}`)
  process.exit(1)
}
