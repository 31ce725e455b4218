// A copy of the working tree in which bugs are planted: the working tree itself is never changed. Installed
// packages are links into the original's node_modules/.pnpm; workspace links lead to packages of the copy.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import ts from 'typescript'

const PREFIX = 'gpunvme-mutants-'
const native = 'packages/cuda-native/native/build'
/** Compiled test programs, keyed by the content of their inputs: valid in any copy. */
const programs = `${native}/programs`
const builds = {
  addon: ['packages/cuda-native/scripts/build-native.mjs'],
  ptx: ['packages/cuda-native/scripts/build-ptx.mjs'],
}

/** Removes copies of runs that were killed. */
export function removeStaleCopies() {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length)) : NaN
    if (!Number.isNaN(pid) && !existsSync(`/proc/${pid}`)) rmSync(join(tmpdir(), name), { recursive: true })
  }
}

export class Copy {
  constructor(root) {
    this.original = root
    this.root = join(tmpdir(), `${PREFIX}${process.pid}`)
  }

  make() {
    mkdirSync(this.root)
    const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard']
    const files = execFileSync('git', listed, { cwd: this.original, encoding: 'utf8', maxBuffer: 2 ** 26 }).split('\0')
    for (const file of files) if (file !== '' && existsSync(join(this.original, file))) this.take(file)
    this.linkModules('.')
    for (const name of readdirSync(join(this.original, 'packages'))) {
      const folder = `packages/${name}`
      this.linkModules(folder)
      for (const built of ['dist', 'gpu-check/dist', 'gpu-check/build']) this.take(`${folder}/${built}`)
    }
    // Keeps timestamps, so that make compiles only what differs.
    this.take(native, (path) => path !== join(this.original, programs))
    mkdirSync(join(this.original, programs), { recursive: true })
    mkdirSync(join(this.root, native), { recursive: true })
    symlinkSync(join(this.original, programs), join(this.root, programs))
  }

  remove() {
    rmSync(this.root, { recursive: true, force: true })
  }

  /** Plants a row's bug; returns why the mutant cannot be built, or undefined. */
  plant({ file, from, to, build }) {
    const changed = readFileSync(join(this.original, file), 'utf8').split(from).join(to)
    writeFileSync(join(this.root, file), changed)
    const compiled = compiledPaths(file).find((path) => existsSync(join(this.root, path)))
    if (compiled !== undefined) {
      const { outputText, diagnostics } = ts.transpileModule(changed, {
        compilerOptions: { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext, verbatimModuleSyntax: true },
        reportDiagnostics: true,
      })
      if (diagnostics.length > 0) return ts.flattenDiagnosticMessageText(diagnostics[0].messageText, ' ')
      writeFileSync(join(this.root, compiled), outputText)
    }
    return build === undefined ? undefined : this.build(build)
  }

  restore({ file, build }) {
    const files = [file, ...compiledPaths(file), build === 'ptx' ? 'packages/cuda-native/cuda/kernels.ptx' : undefined]
    for (const each of files) if (each !== undefined && existsSync(join(this.original, each))) this.write(each)
    const failure = build === 'addon' ? this.build(build) : undefined
    if (failure !== undefined) throw new Error(failure)
  }

  /** Runs a build step in the copy; returns its output if it fails, otherwise undefined. */
  build(name) {
    const { status, stdout, stderr } = spawnSync(process.execPath, builds[name], { cwd: this.root, encoding: 'utf8' })
    return status === 0 ? undefined : stdout + stderr
  }

  /** Copies a file with a new timestamp, unlike `take`, so that make sees the change. */
  write(file) {
    writeFileSync(join(this.root, file), readFileSync(join(this.original, file)))
  }

  take(path, filter = () => true) {
    const from = join(this.original, path)
    if (!existsSync(from)) return
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    cpSync(from, join(this.root, path), { recursive: true, preserveTimestamps: true, verbatimSymlinks: true, filter })
  }

  linkModules(folder) {
    const modules = join(folder, 'node_modules')
    if (!existsSync(join(this.original, modules))) return
    mkdirSync(join(this.root, modules))
    for (const name of readdirSync(join(this.original, modules))) {
      if (['.vite-temp', '.vite', '.cache'].includes(name)) continue
      if (name.startsWith('.')) symlinkSync(join(this.original, modules, name), join(this.root, modules, name))
      else this.take(join(modules, name))
    }
  }
}

/**
 * Returns the paths where tsc may put a compiled source; tests of other packages load that file. Packages with judges
 * beside src/ compile src/ to dist/src/, the others to dist/.
 */
function compiledPaths(file) {
  const found = /^(packages\/[^/]+(?:\/gpu-check)?)\/((?:src\/)?(.+))\.ts$/.exec(file)
  return found === null ? [] : [`${found[1]}/dist/${found[2]}.js`, `${found[1]}/dist/${found[3]}.js`]
}
