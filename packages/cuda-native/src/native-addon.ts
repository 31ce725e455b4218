import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** The native addons of this package. */
export type AddonName = 'gpunvme_host' | 'gpunvme_cuda'

/** The package's own folder, seen from `src` and from `dist`. */
const packageFolder = new URL('../', import.meta.url)

/** Where an addon may be, in the order of preference: built on this machine, or with the package. */
export function addonPlaces(name: AddonName, folder: URL = packageFolder): string[] {
  const places = [`native/build/Release/${name}.node`, `prebuilds/${process.platform}-${process.arch}/${name}.node`]
  return places.map((place) => fileURLToPath(new URL(place, folder)))
}

/** Loads the first of `places` that can be: what the addon exports. @throws NativeAddonError */
export function loadNativeAddon(name: AddonName, places: readonly string[] = addonPlaces(name)): unknown {
  const load = createRequire(import.meta.url)
  const tried: TriedAddon[] = []
  for (const path of places) {
    try {
      return load(path)
    } catch (cause) {
      tried.push({ path, reason: reasonOf(cause, path) })
    }
  }
  throw new NativeAddonError(name, tried)
}

function reasonOf(cause: unknown, path: string): string {
  const { code, message } = cause as NodeJS.ErrnoException
  if (code === 'MODULE_NOT_FOUND') return 'no such file'
  const [reason] = message.split('\n') as [string]
  // The loader of most systems begins with the path, which is said already.
  return reason.startsWith(`${path}: `) ? reason.slice(path.length + 2) : reason
}

/** One place where an addon was looked for, and what came of it. */
export interface TriedAddon {
  readonly path: string
  readonly reason: string
}

/** There is no such addon for this machine. Simulator and QEMU's controller need none. */
export class NativeAddonError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NO_NATIVE_ADDON'
  readonly category = 'not-found'
  readonly tried: readonly TriedAddon[]
  declare readonly next: string

  constructor(name: AddonName, tried: readonly TriedAddon[]) {
    const facts = tried.map(({ path, reason }) => `${path}: ${reason}`)
    const next =
      process.platform === 'linux'
        ? `install g++, make and python3, then run: node ${fileURLToPath(new URL('scripts/build-native.mjs', packageFolder))}`
        : `a Linux machine: real drives are driven there alone, and this is ${process.platform}`
    super(`The native addon ${name} could not be loaded`, { facts, next })
    this.tried = tried
  }
}
