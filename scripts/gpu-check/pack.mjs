// Packs gpu-check and the packages, including the command gpunvme, into a folder that runs on a Linux machine with only
// NVIDIA's driver: no Node, no compiler, no package manager, no network.
//
//   node scripts/gpu-check/pack.mjs [--out FOLDER] [--node FILE | --no-node] [--tarballs FOLDER]
//
//   --out FOLDER       output folder, whose content is replaced; .gpu-check by default
//   --node FILE        Node to pack, stripped and compressed; by default the one that runs this script
//   --no-node          pack no Node: run.sh and stack.sh use the one on PATH
//   --tarballs FOLDER  tarballs of the packages; by default, the packages are packed
//
// `npm run gpu-check:pack` builds everything first.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const root = join(import.meta.dirname, '../..')
const names = ['nvme-spec', 'nvme-sim', 'host-driver', 'cuda-native', 'layer-loader', 'tools']
const source = join(root, 'packages/cuda-native/gpu-check')
/** Maximum size of the folder: below the limit of tools that copy it to a machine. */
const LIMIT_BYTES = 60 * 1024 * 1024

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    node: { type: 'string' },
    'no-node': { type: 'boolean' },
    tarballs: { type: 'string' },
  },
})
const out = resolve(values.out ?? join(root, '.gpu-check'))

const run = (command, args, cwd = root) =>
  execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 26 })

rmSync(out, { recursive: true, force: true })
const scratch = mkdtempSync(join(tmpdir(), 'gpunvme-gpu-check-pack-'))
try {
  packages()
  checks()
  if (!values['no-node']) node(values.node ?? process.execPath)
  for (const script of ['run.sh', 'stack.sh', 'node.sh', 'stream-to-gpu.mjs'])
    copyFileSync(join(import.meta.dirname, script), join(out, script))
  report()
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

/** Unpacks the packages from their tarballs, so that the checks run on the published files. */
function packages() {
  for (const name of names) {
    const packed = values.tarballs ?? scratch
    if (packed === scratch) run('pnpm', ['pack', '--pack-destination', scratch], join(root, 'packages', name))
    const tarball = readdirSync(packed).find((file) => file.startsWith(`gpunvme-${name}-`) && file.endsWith('.tgz'))
    const folder = join(out, 'node_modules/@gpunvme', name)
    mkdirSync(folder, { recursive: true })
    // Type declarations and source maps are not used at run time.
    const unused = ['--exclude=*.d.ts', '--exclude=*.map']
    run('tar', ['-xzf', join(packed, tarball), '--strip-components=1', '-C', folder, ...unused])
  }
  // The command's only third-party dependency, which parses its arguments.
  const commander = realpathSync(join(root, 'packages/tools/node_modules/commander'))
  cpSync(commander, join(out, 'node_modules/commander'), { recursive: true })
  // Only compilation uses these.
  for (const folder of ['native', 'scripts'])
    rmSync(join(out, 'node_modules/@gpunvme/cuda-native', folder), { recursive: true, force: true })
}

function checks() {
  const folder = join(out, 'gpu-check')
  cpSync(join(source, 'dist'), join(folder, 'dist'), {
    recursive: true,
    filter: (path) => !/\.(d\.ts|map|tsbuildinfo)$/.test(path),
  })
  for (const file of ['kernels/measure.ptx', 'build/gpunvme_drive.node']) {
    if (!existsSync(join(source, file))) throw new Error(`${file} is missing: run npm run gpu-check:pack`)
    cpSync(join(source, file), join(folder, file))
  }
  writeFileSync(join(out, 'package.json'), `${JSON.stringify({ private: true, type: 'module' })}\n`)
}

function node(path) {
  const copy = join(scratch, 'node')
  copyFileSync(path, copy)
  chmodSync(copy, 0o755)
  run('strip', ['--strip-all', copy])
  const { status, stdout, error } = spawnSync('xz', ['-T0', '-9', '-c', copy], { maxBuffer: 2 ** 28 })
  if (status !== 0) throw new Error(`xz: ${error?.message ?? `exit status ${status}`}`)
  writeFileSync(join(out, 'node.xz'), stdout)
  writeFileSync(join(out, 'node.sha256'), `${run('sha256sum', [copy]).split(' ')[0]}\n`)
}

/** Prints the size of the folder and the libraries that it requires. Throws if the folder is too large. */
function report() {
  const files = readdirSync(out, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  const paths = files.map((entry) => join(entry.parentPath, entry.name))
  const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0)
  const programs = [
    ...paths.filter((path) => path.endsWith('.node')),
    ...(values['no-node'] ? [] : [join(scratch, 'node')]),
  ]
  for (const path of programs) {
    const what = path.startsWith(out) ? relative(out, path) : 'node'
    console.log(`${what} requires ${requirements(path)}`)
  }
  console.log(`${relative(root, out) || out}: ${files.length} files, ${(bytes / 1024 / 1024).toFixed(1)} MiB`)
  if (bytes >= LIMIT_BYTES)
    throw new Error(`the folder is too large: expected less than ${LIMIT_BYTES / 1024 / 1024} MiB`)
  const { version } = JSON.parse(readFileSync(join(root, 'packages/cuda-native/package.json'), 'utf8'))
  console.log(`@gpunvme/cuda-native ${version}; on the GPU machine, run: sh run.sh --report FILE, sh stack.sh`)
}

/** Returns the newest symbol version of each library that a program requires. */
function requirements(path) {
  const table = run('objdump', ['-T', path])
  const newest = ['GLIBC', 'GLIBCXX', 'CXXABI'].flatMap((library) => {
    const versions = [...table.matchAll(new RegExp(`\\b${library}_(\\d+(?:\\.\\d+)+)`, 'g'))].map(
      ([, version]) => version,
    )
    const order = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    return order.length === 0 ? [] : [`${library} ${order.at(-1)}`]
  })
  return newest.join(', ') || 'no versioned symbols'
}
