import { createHash } from 'node:crypto'
import {
  closeSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { addonPlaces } from '../../src/native-addon.js'
import { hasCompiler, useCompiler, type ProgramOptions } from '../device/compile.js'

/** Whether the stand-in can be built, and there are addons to use it with. */
export const hasStandin: boolean =
  hasCompiler &&
  (['gpunvme_host', 'gpunvme_cuda'] as const).every((name) => addonPlaces(name).some((path) => existsSync(path)))

/** What a title says where it cannot. */
export const skippedWithoutStandin: string = hasStandin
  ? ''
  : ` (skipped: [native] ${hasCompiler ? 'the addons are not built' : 'g++ is not installed'})`

/** What is there in the stand-in: all zeros where nothing was left behind. */
export interface Live {
  readonly contexts: number
  readonly modules: number
  readonly streams: number
  readonly events: number
  readonly device: number
  readonly pinned: number
  readonly registered: number
}

/** Nothing was left behind. */
export const NOTHING: Live = {
  ...{ contexts: 0, modules: 0, streams: 0, events: 0 },
  ...{ device: 0, pinned: 0, registered: 0 },
}

/** A library that stands in for libcuda.so.1, while the tests of a file run. */
export interface Standin {
  /** Kernels that it knows, as PTX. */
  readonly ptx: Uint8Array
  live(): Live
  /** From the next cuInit on: `fail('cuMemAlloc_v2=2@3')`, or for good, with all work gone: `'cuStreamQuery=719@3+'`. */
  fail(plan: string): void
  /** How many calls were told to fail, and did. */
  failed(): number
  /** Copies of at least so many bytes, 1 when not given, start, and do not end until this is taken back. */
  holdCopies(hold: boolean, leastBytes?: number): void
  /** Kernels that were asked for by their name, and loaded, by now. */
  lookups(): { readonly asked: number; readonly loaded: number }
  copies(): { readonly started: number; readonly done: number }
  /** How many kernels of this package were launched in this test. */
  launched(): number
  /** The kernel of this package that is launched as that one, from 1 on, does not begin until this is 0. */
  holdLaunch(number: number): void
  /** Which registers were registered last. */
  registers(): { readonly at: bigint; readonly lengthBytes: number }
  /** Another build of it, by its path. */
  build(options: Partial<ProgramOptions>): Promise<string>
}

const LIBRARY = { sources: ['test/standin/libcuda.cc', 'test/standin/kernels.cc'], flags: ['-shared', '-fPIC'] }
const VARIABLES = ['LIBRARY', 'FAIL', 'DEVICES', 'VERSION', 'TIME_LIMIT', 'CONTROL', 'ATTRIBUTES', 'PEERS'].map(
  (name) => (name === 'LIBRARY' ? 'GPUNVME_CUDA_LIBRARY' : `GPUNVME_STANDIN_${name}`),
)

/**
 * Makes the stand-in this file's libcuda. Call it outside of tests.
 */
export function useStandin(): Standin {
  const { build: compile } = useCompiler()
  const folder = mkdtempSync(join(tmpdir(), 'gpunvme-standin-'))
  const control = join(folder, 'control')
  let plans = 0
  let library: string

  const build = (options: Partial<ProgramOptions> = {}) => compile('libcuda.so', { ...LIBRARY, ...options })
  // The layout of Control in libcuda.cc.
  const writeAt = (position: number, bytes: Uint32Array) => {
    const fd = openSync(control, 'r+')
    writeSync(fd, bytes, 0, bytes.byteLength, position)
    closeSync(fd)
  }
  const words = () => new Int32Array(new Uint8Array(readFileSync(control)).buffer, 0, 20)

  beforeAll(async () => {
    if (hasStandin) library = await kept(build)
  }, 180_000)
  beforeEach(() => {
    writeFileSync(control, new Uint8Array(4096), { flag: existsSync(control) ? 'r+' : 'w' })
    for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
    process.env['GPUNVME_CUDA_LIBRARY'] = library
    process.env['GPUNVME_STANDIN_CONTROL'] = control
  })
  afterAll(() => {
    for (const name of VARIABLES) Reflect.deleteProperty(process.env, name)
    rmSync(folder, { recursive: true, force: true })
  })

  return {
    ptx: readFileSync(join(import.meta.dirname, 'kernels.ptx')),
    build,
    live() {
      const [, , contexts, modules, streams, events, device, pinned, registered] = words() as unknown as number[]
      return { contexts, modules, streams, events, device, pinned, registered } as Live
    },
    fail(plan) {
      // A text that was not there before: calls are counted anew.
      process.env['GPUNVME_STANDIN_FAIL'] = `${plan},plan${plans++}=0`
    },
    failed: () => words()[1]!,
    holdCopies(hold, leastBytes = 1) {
      writeFileSync(control, new Uint32Array([hold ? leastBytes : 0]), { flag: 'r+' })
    },
    lookups: () => ({ asked: words()[18]!, loaded: words()[19]! }),
    copies: () => ({ started: words()[9]!, done: words()[10]! }),
    launched: () => words()[11]!,
    holdLaunch(number) {
      writeAt(48, new Uint32Array([number]))
    },
    registers() {
      const [at, lengthBytes] = new BigUint64Array(words().slice(14, 18).buffer)
      return { at: at!, lengthBytes: Number(lengthBytes) }
    },
  }
}

const root = join(import.meta.dirname, '../..')

/** One build for all test files, beside the addons, for as long as nothing has changed that it is made of. */
async function kept(build: () => Promise<string>): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of ['cuda', 'native', 'test/standin', 'test/fibers']) {
    const names = readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    const sources = names.filter((name) => /\.(cc|cuh|h|ts)$/.test(name) && !name.startsWith('build'))
    for (const name of sources.sort()) hash.update(name).update(readFileSync(join(root, folder, name)))
  }
  const folder = join(root, 'native/build/standin')
  const name = `${hash.digest('hex')}.so`
  const path = join(folder, name)
  if (existsSync(path)) return path
  const built = await build()
  mkdirSync(folder, { recursive: true })
  // The tests of another file may look for it, or build it too: it is there as a whole, or not.
  copyFileSync(built, `${path}.${process.pid}`)
  renameSync(`${path}.${process.pid}`, path)
  for (const old of readdirSync(folder)) if (!old.startsWith(name)) rmSync(join(folder, old), { force: true })
  return path
}
