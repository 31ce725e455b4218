// Packs gpu-check, and the stack up to the command, into a folder that runs on a Linux machine with nothing but NVIDIA's
// driver: no Node, no compiler, no package manager, no network.
//
//   node scripts/gpu-check/pack.mjs [--out FOLDER] [--node FILE | --no-node] [--tarballs FOLDER]
//
// FOLDER is .gpu-check when not given; what is in it goes. Node is the one that runs this, or FILE, stripped and
// compressed; with --no-node, run.sh takes the one on PATH. Packages are packed,
// or taken from where they were. Built before: npm run gpu-check:pack does all of it.
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
/** What a folder may be that travels to a machine by way of a tool with a limit of its own, with room beside it. */
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

/** As npm would unpack them, so that what is checked is what is published. */
function packages() {
  for (const name of names) {
    const packed = values.tarballs ?? scratch
    if (packed === scratch) run('pnpm', ['pack', '--pack-destination', scratch], join(root, 'packages', name))
    const tarball = readdirSync(packed).find((file) => file.startsWith(`gpunvme-${name}-`) && file.endsWith('.tgz'))
    const folder = join(out, 'node_modules/@gpunvme', name)
    mkdirSync(folder, { recursive: true })
    // Declarations and maps are for those who program with them.
    const unused = ['--exclude=*.d.ts', '--exclude=*.map']
    run('tar', ['-xzf', join(packed, tarball), '--strip-components=1', '-C', folder, ...unused])
  }
  // What the command parses its arguments with: the only package of others.
  const commander = realpathSync(join(root, 'packages/tools/node_modules/commander'))
  cpSync(commander, join(out, 'node_modules/commander'), { recursive: true })
  // Nothing is compiled there.
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
  if (status !== 0) throw new Error(`xz: ${error?.message ?? `ended with ${status}`}`)
  writeFileSync(join(out, 'node.xz'), stdout)
  writeFileSync(join(out, 'node.sha256'), `${run('sha256sum', [copy]).split(' ')[0]}\n`)
}

/** What the folder is, and what a machine must have for it. */
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
    console.log(`${what} needs ${needs(path)}`)
  }
  console.log(`${relative(root, out) || out}: ${files.length} files, ${(bytes / 1024 / 1024).toFixed(1)} MiB`)
  if (bytes >= LIMIT_BYTES) throw new Error(`expected less than ${LIMIT_BYTES / 1024 / 1024} MiB`)
  const { version } = JSON.parse(readFileSync(join(root, 'packages/cuda-native/package.json'), 'utf8'))
  console.log(`@gpunvme/cuda-native ${version}; run it there: sh run.sh --report FILE, sh stack.sh`)
}

/** The newest version of each library's symbols that a program asks for. */
function needs(path) {
  const table = run('objdump', ['-T', path])
  const newest = ['GLIBC', 'GLIBCXX', 'CXXABI'].flatMap((library) => {
    const versions = [...table.matchAll(new RegExp(`\\b${library}_(\\d+(?:\\.\\d+)+)`, 'g'))].map(
      ([, version]) => version,
    )
    const order = versions.sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    return order.length === 0 ? [] : [`${library} ${order.at(-1)}`]
  })
  return newest.join(', ') || 'no versioned symbol'
}
