import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'rolldown'
import { built, compilerProblem } from '../programs/build.mjs'
import type { CpioEntry } from './cpio.js'

const PACKAGE = join(import.meta.dirname, '../..')
const ADDON = 'native/build/Release/gpunvme_host.node'
const CUDA_ADDON = 'native/build/Release/gpunvme_cuda.node'

/** Why the scenarios cannot run; undefined where they can. */
export const addonMissing = existsSync(join(PACKAGE, ADDON))
  ? undefined
  : '[native] gpunvme_host is not built: node packages/cuda-native/scripts/build-native.mjs says why'

/** The programs that every guest has. */
const GUEST = join(import.meta.dirname, 'guest')
const RUNNER = 'runner.ts'

const MANIFEST = Buffer.from('{"type":"module","version":"0.0.0"}')

/**
 * The programs of `guest/` and of another folder, if one is given, with all they import, from what was built last into dist: few files in the guest's memory, in
 * place of hundreds over 9p. They lie as they would in this package, so that the addon is found where it always is.
 * Of `guest/` it is what runs the others alone, where nothing else is asked for.
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
    // The oldest Node that we run on: it has no `await using`.
    transform: { target: 'node20' },
    output: { format: 'esm', chunkFileNames: '[name]-[hash].js' },
  })
  const code = output.flatMap((file) => (file.type === 'chunk' ? [file] : []))
  return [
    // Where the command, whose sources are a folder deeper than the bundle, looks for its version.
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

/** A stand-in for libcuda, with the addon and the kernels that are loaded into it; nothing if one of them is missing. */
async function cudaParts(): Promise<CpioEntry[]> {
  if (standinMissing !== undefined) return []
  return [
    { path: `package/${CUDA_ADDON}`, content: readFileSync(join(PACKAGE, CUDA_ADDON)) },
    { path: 'package/standin' },
    { path: 'package/standin/libcuda.so', content: readFileSync(await built('standin/libcuda')) },
    // Where `package-kernels.ts`, from a file in package/dist, looks for it.
    { path: 'cuda' },
    { path: 'cuda/kernels.ptx', content: readFileSync(join(PACKAGE, 'cuda/kernels.ptx')) },
  ]
}
