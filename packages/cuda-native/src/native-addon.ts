import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** The native addons of this package. */
export type AddonName = 'gpunvme_host' | 'gpunvme_cuda'

/** The package's folder, relative to `src` and to `dist`. */
const packageFolder = new URL('../', import.meta.url)

/** Returns the paths of an addon in order of preference: built on this machine, then shipped with the package. */
export function addonPlaces(name: AddonName, folder: URL = packageFolder): string[] {
  const places = [`native/build/Release/${name}.node`, `prebuilds/${process.platform}-${process.arch}/${name}.node`]
  return places.map((place) => fileURLToPath(new URL(place, folder)))
}

/** Loads the first of `places` that can be loaded. Returns the exports of the addon. @throws NativeAddonError */
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
  // Most dynamic loaders start the message with the path, which `path` already states.
  return reason.startsWith(`${path}: `) ? reason.slice(path.length + 2) : reason
}

/** A path of an addon, and why it could not be loaded. */
export interface TriedAddon {
  readonly path: string
  /** The loader's error, or 'no such file'. */
  readonly reason: string
}

/** Error: a native addon could not be loaded. The simulator and QEMU's controller need none. */
export class NativeAddonError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NO_NATIVE_ADDON'
  readonly category = 'not-found'
  /** The paths that were tried, in order. */
  readonly tried: readonly TriedAddon[]
  /** The command that builds the addons. */
  declare readonly next: string

  constructor(name: AddonName, tried: readonly TriedAddon[]) {
    const facts = tried.map(({ path, reason }) => `${path}: ${reason}`)
    const next =
      process.platform === 'linux'
        ? `install g++, make and python3, then run: node ${fileURLToPath(new URL('scripts/build-native.mjs', packageFolder))}`
        : `use a Linux machine: the native addons do not support ${process.platform}`
    super(`The native addon ${name} could not be loaded`, { facts, next })
    this.tried = tried
  }
}
