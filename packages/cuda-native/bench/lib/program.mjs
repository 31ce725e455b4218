// Compiles and runs programs with the device code, with the flags of the addon.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const packageRoot = join(import.meta.dirname, '../..')
const includes = ['cuda', 'test', '../nvme-spec/include'].map((place) => `-I${join(packageRoot, place)}`)

/** Flags of node-gyp's release builds. */
const FLAGS = [
  '-std=c++17',
  '-O3',
  '-fPIC',
  '-fno-omit-frame-pointer',
  '-fno-rtti',
  '-fno-exceptions',
  '-pthread',
  '-g',
]

/** Returns whether a program is installed. */
export const isInstalled = (command) => spawnSync(command, ['--version']).status === 0

/** Compiles `<name>.cc` of this folder, calls `use` with functions that run it, and removes the program. */
export function withProgram(name, use, flags = FLAGS) {
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-bench-'))
  try {
    const path = join(folder, name)
    output('g++', [...flags, ...includes, '-o', path, join(import.meta.dirname, `${name}.cc`)])
    return use({
      /** Runs the program and returns its output: one JSON object per line. */
      run: (...args) =>
        output(path, args.map(String))
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      /** Returns the instructions of one function and its callees, counted by callgrind. */
      instructionsOf(symbol, ...args) {
        const counts = join(folder, 'callgrind.out')
        const tool = ['--tool=callgrind', `--callgrind-out-file=${counts}`, `--toggle-collect=${symbol}`]
        output('valgrind', [...tool, path, ...args.map(String)])
        const total = /^(?:summary|totals): (\d+)/m.exec(readFileSync(counts, 'utf8'))
        return Number(total[1])
      },
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function output(command, args) {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26 })
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}\n${error ?? stderr}`)
  return stdout
}
