import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'
import { built, compilerProblem } from '../programs/build.mjs'
import type { CpioEntry } from './cpio.js'

const PACKAGE = join(import.meta.dirname, '../..')
const ADDON = 'native/build/Release/gpunvme_host.node'
const CUDA_ADDON = 'native/build/Release/gpunvme_cuda.node'

/** Why the scenarios cannot run; undefined if they can. */
export const addonMissing = existsSync(join(PACKAGE, ADDON))
  ? undefined
  : '[native] gpunvme_host is not built: node packages/cuda-native/scripts/build-native.mjs says why'

/** Folder of the programs in every guest. */
const GUEST = join(import.meta.dirname, 'guest')
const RUNNER = 'runner.ts'

const MANIFEST = Buffer.from('{"type":"module","version":"0.0.0"}')

/**
 * Bundles the programs of `guest/`, and of the folder `more` if given, with everything they import from the built
 * packages. The guest then loads a few files from memory instead of hundreds over 9p. Paths match those of this
 * package, so that the programs find the addon. With `isRunnerAlone`, the runner is the only program of `guest/`, and
 * the CUDA parts are omitted.
 */
export async function bundleGuest(more?: string, isRunnerAlone = false): Promise<CpioEntry[]> {
  const scripts = [GUEST, ...(more === undefined ? [] : [more])].flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.ts') && !(isRunnerAlone && folder === GUEST && name !== RUNNER))
      .map((name) => [name.slice(0, -'.ts'.length), join(folder, name)] as const),
  )
  const { output } = await build({
    input: Object.fromEntries(scripts),
    write: false,
    platform: 'node',
    // The oldest supported Node, which lacks `await using`.
    transform: { target: 'node20' },
    output: { format: 'esm', chunkFileNames: '[name]-[hash].js' },
  })
  const code = output.flatMap((file) => (file.type === 'chunk' ? [file] : []))
  return [
    // The gpunvme command reads its version here, since its sources are one folder deeper than the bundle.
    { path: 'package.json', content: MANIFEST },
    { path: 'package' },
    { path: 'package/package.json', content: MANIFEST },
    { path: 'package/dist' },
    ...code.map((file) => ({ path: `package/dist/${file.fileName}`, content: Buffer.from(file.code) })),
    ...['native', 'native/build', 'native/build/Release'].map((path) => ({ path: `package/${path}` })),
    { path: `package/${ADDON}`, content: readFileSync(join(PACKAGE, ADDON)) },
    ...(isRunnerAlone ? [] : await cudaParts()),
  ]
}

/** Why a guest has no stand-in for libcuda; undefined if it has one. */
export const standinMissing =
  compilerProblem() ?? (existsSync(join(PACKAGE, CUDA_ADDON)) ? undefined : '[native] gpunvme_cuda is not built')

/**
 * Returns the stand-in for libcuda, with the addon and the kernels that it loads; nothing if one of them is missing.
 */
async function cudaParts(): Promise<CpioEntry[]> {
  if (standinMissing !== undefined) return []
  return [
    { path: `package/${CUDA_ADDON}`, content: readFileSync(join(PACKAGE, CUDA_ADDON)) },
    { path: 'package/standin' },
    { path: 'package/standin/libcuda.so', content: readFileSync(await built('standin/libcuda')) },
    // The path at which `package-kernels.ts` looks for it from package/dist.
    { path: 'cuda' },
    { path: 'cuda/kernels.ptx', content: readFileSync(join(PACKAGE, 'cuda/kernels.ptx')) },
  ]
}
