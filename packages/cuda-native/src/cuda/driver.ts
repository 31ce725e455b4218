import type { NativeAddonError } from '../native-addon.js'
import { loadCudaAddon, type CudaAddon, type ProbedDriver } from './addon.js'
import { CudaCallError } from './errors.js'

/** Why there is no GPU to use. Each has a code of its own. */
export const UNAVAILABLE = {
  'addon-missing': 'ERR_GPUNVME_NO_NATIVE_ADDON',
  'library-missing': 'ERR_GPUNVME_NO_CUDA_DRIVER',
  'driver-too-old': 'ERR_GPUNVME_CUDA_DRIVER_TOO_OLD',
  'init-failed': 'ERR_GPUNVME_CUDA_INIT_FAILED',
  'no-device': 'ERR_GPUNVME_NO_CUDA_DEVICE',
} as const

/** What stands between this process and a GPU. */
export type CudaObstacle = keyof typeof UNAVAILABLE

/** An obstacle, in words; `cause` is what was thrown below. */
export interface CudaUnavailable {
  readonly state: CudaObstacle
  readonly message: string
  readonly facts: readonly string[]
  readonly next: string
  readonly cause?: unknown
}

/** A driver that works and has a GPU. */
export interface FoundDriver extends ProbedDriver {
  readonly state: 'available'
  readonly addon: CudaAddon
  readonly library: string
}

/** The first driver whose interface has PTX 8.2, in which the kernels are written: CUDA 12.2, which is 535. */
const OLDEST_VERSION = 12020

/** Where containers and other systems have the driver's library, for which the system's own search does not look. */
const LIBRARY_PLACES = [
  '/usr/local/nvidia/lib64/libcuda.so.1',
  '/usr/lib/wsl/lib/libcuda.so.1',
  '/run/opengl-driver/lib/libcuda.so.1',
]

/** Where the driver's library is looked for: GPUNVME_CUDA_LIBRARY alone, where it is set. */
export function libraryPaths(environment: NodeJS.ProcessEnv = process.env): string[] {
  const named = namedLibrary(environment)
  return named === undefined ? ['libcuda.so.1', ...LIBRARY_PLACES] : [named]
}

function namedLibrary({ GPUNVME_CUDA_LIBRARY }: NodeJS.ProcessEnv = process.env): string | undefined {
  return GPUNVME_CUDA_LIBRARY === '' ? undefined : GPUNVME_CUDA_LIBRARY
}

/** What of CUDA there is for this process. Throws nothing: whatever is missing is an answer. */
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
  if (missing.includes('cuInit')) return noLibrary(`${path} is no driver library`, [missingFact(path, missing)])
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
        facts: [`${path} is for CUDA ${formatVersion(driverVersion)}; the kernels need 12.2`],
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
      next: next ?? 'nvidia-smi, which says whether driver and kernel module fit each other',
      cause,
    }
  }
}

/** Where somebody has named the library, that is to be mended, or undone. */
function noLibrary(message: string, facts: readonly string[]): CudaUnavailable {
  const state = 'library-missing'
  if (namedLibrary() === undefined) {
    return {
      state,
      message,
      facts,
      next: 'install the NVIDIA driver, or name its libcuda.so.1 in GPUNVME_CUDA_LIBRARY',
    }
  }
  return {
    state,
    message,
    facts: [...facts, 'GPUNVME_CUDA_LIBRARY names it, so that nothing else was tried'],
    next: "unset GPUNVME_CUDA_LIBRARY, or let it name the driver's libcuda.so.1",
  }
}

function missingFact(path: string, missing: readonly string[]): string {
  const rest = missing.length - NAMED_AT_MOST
  return `${path} has no ${missing.slice(0, NAMED_AT_MOST).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`
}

/** Of the functions that a library has not. */
const NAMED_AT_MOST = 5
const NEWER_DRIVER = 'an NVIDIA driver of version 535 or newer'

function noDevice(path: string, cause?: CudaCallError): CudaUnavailable {
  return {
    state: 'no-device',
    message: 'The NVIDIA driver knows no GPU',
    facts: [`library ${path}`],
    next: 'give this process a GPU: CUDA_VISIBLE_DEVICES, or --gpus of a container',
    ...(cause === undefined ? {} : { cause }),
  }
}

/** CUDA's version number in words: 12020 is 12.2. */
export function formatVersion(version: number): string {
  return `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`
}
