import type { EngineAddon, EngineHandle, EngineOptions } from '../engine/engine-addon.js'
import { loadNativeAddon } from '../native-addon.js'
import { CudaCallError, CudaTimeoutError, type FailedCall } from './errors.js'

/** What `load` found: `path` is the library that was opened, `missing` what it does not export. */
export interface LoadedLibrary {
  readonly path?: string
  readonly tried: readonly { readonly path: string; readonly reason: string }[]
  readonly missing: readonly string[]
}

/**
 * What `probe` found. Attributes are those of cuda.h with the numbers 75, 76, 91, 99, 116, 124, 17, 20, 117 and 118;
 * `moduleLoading` is a CUmoduleLoadingMode, 0 where the driver does not say.
 */
export interface ProbedDriver {
  readonly driverVersion: number
  readonly moduleLoading: number
  readonly devices: readonly {
    readonly name: string
    readonly bdf: string
    readonly memoryBytes: number
    readonly attributes: readonly number[]
  }[]
}

/**
 * What `native/cuda/addon.cc` exports. It checks every argument itself. Handles are numbers that are never used twice:
 * what was freed, or belongs to another kind, is a TypeError. What the driver refuses is thrown as `CudaCallError`.
 */
export interface CudaAddon extends EngineAddon {
  readonly errors: (
    callError: new (call: FailedCall) => CudaCallError,
    timeoutError: new (attempt: string, afterNs: number, next: string) => CudaTimeoutError,
  ) => void
  readonly load: (paths: readonly string[]) => LoadedLibrary
  readonly probe: (path: string) => ProbedDriver
  readonly open: (path: string, device: number) => number
  /** Whether nothing is under way in its streams, and no engine runs in it; or its context is dead, and nothing can be. */
  readonly isIdle: (cuda: number) => boolean
  /**
   * Undoes all that was made in it. Gives the error that ended its context, where that is dead: then nothing that fails
   * on the way is thrown. @throws TypeError where it is not idle.
   */
  readonly close: (cuda: number) => CudaCallError | undefined
  /** How many hardware work queues streams have, and whether kernels that run for seconds are ended by force. */
  readonly limits: (cuda: number) => { readonly connections: number; readonly hasTimeLimit: boolean }
  readonly allocPinned: (cuda: number, lengthBytes: number) => number
  readonly allocDevice: (cuda: number, lengthBytes: number) => number
  readonly register: (cuda: number, address: bigint, lengthBytes: number, io: boolean) => number
  /** The host's address, 0n of GPU memory, and the GPU's. */
  readonly describe: (memory: number) => readonly [address: bigint, gpuPointer: bigint]
  readonly buffer: (memory: number) => ArrayBuffer
  /** A dma-buf's descriptor, for the caller to close. */
  readonly exportDmaBuf: (cuda: number, gpuPointer: bigint, lengthBytes: number) => number
  /** Where a view's first byte is. */
  readonly addressOf: (view: ArrayBufferView) => bigint
  readonly free: (handle: number) => void
  /** All kernels of these names that the text has are loaded when it returns: none is while another runs. */
  readonly loadKernels: (cuda: number, ptx: Uint8Array, names: readonly string[]) => number
  readonly createStream: (cuda: number) => number
  /** One Uint8Array an argument; their lengths must be those of the kernel's parameters. */
  readonly launch: (
    stream: number,
    name: string,
    grid: readonly number[],
    block: readonly number[],
    args: readonly Uint8Array[],
  ) => void
  readonly copyIn: (stream: number, to: number, toBytes: number, lengthBytes: number, address: bigint) => void
  readonly copyOut: (stream: number, from: number, fromBytes: number, lengthBytes: number, address: bigint) => void
  readonly fill: (stream: number, memory: number, offsetBytes: number, lengthBytes: number, byte: number) => void
  /** For each two GPUs [from, to, whether access is supported, performance rank, whether atomics are native]. */
  readonly peers: (path: string) => readonly (readonly [number, number, number, number, number])[]
  /** Lets the first reach the memory of the second; false where it did before. */
  readonly enablePeer: (cuda: number, peer: number) => boolean
  readonly disablePeer: (cuda: number, peer: number) => void
  readonly copyPeer: (
    stream: number,
    to: number,
    toBytes: number,
    from: number,
    fromBytes: number,
    lengthBytes: number,
  ) => void
  /** Whether nothing is under way in the stream. Where it is so because something went wrong, that is thrown. */
  readonly isDone: (stream: number) => boolean
  /** False when what was put into the stream until now is not done within `timeoutNs`. */
  readonly finished: (stream: number, timeoutNs: number) => Promise<boolean>
  /** An engine whose leaders are kernels on this GPU; `loadKernels` came before. It is closed before the GPU is. */
  readonly createEngine: (
    cuda: number,
    options: EngineOptions & { readonly warp: boolean },
    onWake: () => void,
  ) => EngineHandle
}

let loaded: CudaAddon | undefined

/** The addon gpunvme_cuda, loaded at the first call. @throws NativeAddonError */
export function loadCudaAddon(): CudaAddon {
  if (loaded === undefined) {
    const addon = loadNativeAddon('gpunvme_cuda') as CudaAddon
    addon.errors(CudaCallError, CudaTimeoutError)
    loaded = addon
  }
  return loaded
}
