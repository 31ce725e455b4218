import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'
import { GpuNvmeError } from '@gpunvme/nvme-spec'

declare const handle: unique symbol

/** A region as the addon knows it. Only `HostRegion` holds one: the addon believes what it is given here. */
export interface RegionHandle {
  readonly [handle]: never
}

/** What `native/addon.cc` exports. It checks every argument itself, apart from handles. */
export interface HostAddon {
  readonly map: (fd: number, offsetBytes: number, lengthBytes: number, writable: boolean) => RegionHandle
  readonly allocate: (lengthBytes: number, pageBytes: number) => RegionHandle
  readonly unmap: (region: RegionHandle) => void
  readonly address: (region: RegionHandle) => bigint
  readonly length: (region: RegionHandle) => number
  readonly buffer: (region: RegionHandle) => ArrayBuffer
  readonly view: (address: bigint, lengthBytes: number) => ArrayBuffer
  readonly load32: (region: RegionHandle, offsetBytes: number) => number
  readonly store32: (region: RegionHandle, offsetBytes: number, value: number) => void
  readonly load64: (region: RegionHandle, offsetBytes: number) => bigint
  readonly store64: (region: RegionHandle, offsetBytes: number, value: bigint) => void
  readonly yield: () => void
  readonly ioctl: (fd: number, request: number, argument: Uint8Array) => number
  readonly ioctlNumber: (fd: number, request: number, argument: number) => number
  readonly eventfd: () => number
  /** Gives what is open as `from` the number `to`, whose own file is closed. */
  readonly move: (from: number, to: number) => number
  readonly waitReadable: (fd: number, timeoutNs: number) => Promise<boolean>
  readonly memlockLimitBytes: () => number
}

/** The package's own folder, seen from `src/host` and from `dist/host`. */
const packageFolder = new URL('../../', import.meta.url)

/** Where the addon may be, in the order of preference: built on this machine, or with the package. */
export function addonPlaces(folder: URL = packageFolder): string[] {
  const places = [
    'native/build/Release/gpunvme_host.node',
    `prebuilds/${process.platform}-${process.arch}/gpunvme_host.node`,
  ]
  return places.map((place) => fileURLToPath(new URL(place, folder)))
}

/** Loads the first of `places` that can be. @throws NativeAddonError */
export function loadAddon(places: readonly string[] = addonPlaces()): HostAddon {
  const load = createRequire(import.meta.url)
  const tried: TriedAddon[] = []
  for (const path of places) {
    try {
      return load(path) as HostAddon
    } catch (cause) {
      tried.push({ path, reason: reasonOf(cause) })
    }
  }
  throw new NativeAddonError(tried)
}

function reasonOf(cause: unknown): string {
  const { code, message } = cause as NodeJS.ErrnoException
  return code === 'MODULE_NOT_FOUND' ? 'no such file' : message.split('\n')[0]!
}

/** One place where the addon was looked for, and what came of it. */
export interface TriedAddon {
  readonly path: string
  readonly reason: string
}

/** There is no native addon for this machine. Simulator and QEMU's controller need none. */
export class NativeAddonError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NO_NATIVE_ADDON'
  readonly category = 'not-found'
  readonly tried: readonly TriedAddon[]

  constructor(tried: readonly TriedAddon[]) {
    super('The native addon gpunvme_host could not be loaded', {
      facts: tried.map(({ path, reason }) => `${path}: ${reason}`),
      next:
        process.platform === 'linux'
          ? `install g++, make and python3, then run: node ${fileURLToPath(new URL('scripts/build-native.mjs', packageFolder))}`
          : `a Linux machine: real drives are driven there alone, and this is ${process.platform}`,
    })
    this.tried = tried
  }
}
