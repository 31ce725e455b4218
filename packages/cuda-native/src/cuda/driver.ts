import type { NativeAddonError } from '../native-addon.js'
import { loadCudaAddon, type CudaAddon, type ProbedDriver } from './addon.js'
import { CudaCallError } from './errors.js'

/** Error codes by reason why no GPU is usable. */
export const UNAVAILABLE = {
  'addon-missing': 'ERR_GPUNVME_NO_NATIVE_ADDON',
  'library-missing': 'ERR_GPUNVME_NO_CUDA_DRIVER',
  'driver-too-old': 'ERR_GPUNVME_CUDA_DRIVER_TOO_OLD',
  'init-failed': 'ERR_GPUNVME_CUDA_INIT_FAILED',
  'no-device': 'ERR_GPUNVME_NO_CUDA_DEVICE',
} as const

/** Why this process cannot use a GPU. */
export type CudaObstacle = keyof typeof UNAVAILABLE

/** An obstacle, described for people; `cause` is the original error. */
export interface CudaUnavailable {
  readonly state: CudaObstacle
  readonly message: string
  readonly facts: readonly string[]
  readonly next: string
  readonly cause?: unknown
}

/** A working driver with at least one GPU. */
export interface FoundDriver extends ProbedDriver {
  readonly state: 'available'
  readonly addon: CudaAddon
  readonly library: string
}

/** CUDA 12.2, driver 535: the first version that supports PTX 8.2, which the kernels use. */
const OLDEST_VERSION = 12020

/** Paths of the driver's library in containers, WSL and NixOS, which the dynamic loader does not search. */
const LIBRARY_PLACES = [
  '/usr/local/nvidia/lib64/libcuda.so.1',
  '/usr/lib/wsl/lib/libcuda.so.1',
  '/run/opengl-driver/lib/libcuda.so.1',
]

/** Returns the paths to try for the driver's library: only GPUNVME_CUDA_LIBRARY, if it is set. */
export function libraryPaths(environment: NodeJS.ProcessEnv = process.env): string[] {
  const named = namedLibrary(environment)
  return named === undefined ? ['libcuda.so.1', ...LIBRARY_PLACES] : [named]
}

function namedLibrary({ GPUNVME_CUDA_LIBRARY }: NodeJS.ProcessEnv = process.env): string | undefined {
  return GPUNVME_CUDA_LIBRARY === '' ? undefined : GPUNVME_CUDA_LIBRARY
}

/** Finds the driver and its GPUs. Returns what is missing, if anything, instead of throwing. */
export function findDriver(load: () => CudaAddon = loadCudaAddon): FoundDriver | CudaUnavailable {
  let addon: CudaAddon
  try {
    addon = load()
  } catch (cause) {
    const { headline: message, facts, next } = cause as NativeAddonError
    return { state: 'addon-missing', message, facts, next, cause }
  }
  const { path, tried, missing } = addon.load(libraryPaths())
  if (path === undefined) {
    const facts = tried.map(({ path, reason }) => (reason.startsWith(path) ? reason : `${path}: ${reason}`))
    return noLibrary("The NVIDIA driver's library could not be loaded", facts)
  }
  if (missing.includes('cuInit'))
    return noLibrary(`${path} is not the library of a CUDA driver`, [missingFact(path, missing)])
  if (missing.length > 0) {
    return {
      state: 'driver-too-old',
      message: "The NVIDIA driver's library is too old",
      facts: [missingFact(path, missing)],
      next: NEWER_DRIVER,
    }
  }
  try {
    const probed = addon.probe(path)
    const { driverVersion, devices } = probed
    if (driverVersion < OLDEST_VERSION) {
      return {
        state: 'driver-too-old',
        message: 'The NVIDIA driver is too old',
        facts: [`${path} supports CUDA ${formatVersion(driverVersion)}; the kernels require 12.2`],
        next: NEWER_DRIVER,
      }
    }
    return devices.length === 0 ? noDevice(path) : { state: 'available', addon, library: path, ...probed }
  } catch (cause) {
    if (!(cause instanceof CudaCallError)) throw cause
    if (cause.resultName === 'CUDA_ERROR_NO_DEVICE') return noDevice(path, cause)
    const { headline: message, facts, next } = cause
    return {
      state: 'init-failed',
      message,
      facts: [`library ${path}`, ...facts],
      next: next ?? 'run nvidia-smi: it reports whether library and kernel module are of the same version',
      cause,
    }
  }
}

/** Describes a missing library. If GPUNVME_CUDA_LIBRARY is set, the next step is to correct or unset it. */
function noLibrary(message: string, facts: readonly string[]): CudaUnavailable {
  const state = 'library-missing'
  if (namedLibrary() === undefined) {
    return {
      state,
      message,
      facts,
      next: 'install the NVIDIA driver, or set GPUNVME_CUDA_LIBRARY to the path of its libcuda.so.1',
    }
  }
  return {
    state,
    message,
    facts: [...facts, 'GPUNVME_CUDA_LIBRARY is set, so no other path was tried'],
    next: "unset GPUNVME_CUDA_LIBRARY, or set it to the path of the driver's libcuda.so.1",
  }
}

function missingFact(path: string, missing: readonly string[]): string {
  const rest = missing.length - NAMED_AT_MOST
  return `${path} does not export ${missing.slice(0, NAMED_AT_MOST).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** Maximum number of missing functions that an error names. */
const NAMED_AT_MOST = 5
const NEWER_DRIVER = 'install NVIDIA driver 535 or newer'

function noDevice(path: string, cause?: CudaCallError): CudaUnavailable {
  return {
    state: 'no-device',
    message: 'The NVIDIA driver found no GPU',
    facts: [`library ${path}`],
    next: 'make a GPU visible to this process: CUDA_VISIBLE_DEVICES, or --gpus of a container',
    ...(cause === undefined ? {} : { cause }),
  }
}

/** Formats CUDA's version number: 12020 is 12.2. */
export function formatVersion(version: number): string {
  return `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`
}
