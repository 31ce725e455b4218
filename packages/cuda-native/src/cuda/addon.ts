import type { EngineAddon, EngineHandle, EngineOptions } from '../engine/engine-addon.js'
import { loadNativeAddon } from '../native-addon.js'
import { CudaCallError, CudaTimeoutError, type FailedCall } from './errors.js'

declare const doorbellsHandle: unique symbol

/** Handle of a thread that forwards doorbells. */
export interface DoorbellsHandle {
  readonly [doorbellsHandle]: never
}

/** Result of `load`: `path` is the library that was opened, `missing` the required functions that it does not export. */
export interface LoadedLibrary {
  readonly path?: string
  readonly tried: readonly { readonly path: string; readonly reason: string }[]
  readonly missing: readonly string[]
}

/**
 * Result of `probe`. `attributes` are those of cuda.h with the numbers 75, 76, 91, 99, 116, 124, 17, 20, 117 and 118.
 * `moduleLoading` is a CUmoduleLoadingMode, or 0 if the driver does not report it.
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
 * Exports of `native/cuda/addon.cc`, which checks every argument. Handles are numbers that are never reused: a freed handle,
 * or one of another kind, is a TypeError. Errors of the driver are thrown as `CudaCallError`.
 */
export interface CudaAddon extends EngineAddon {
  readonly errors: (
    callError: new (call: FailedCall) => CudaCallError,
    timeoutError: new (attempt: string, afterNs: number, next: string) => CudaTimeoutError,
  ) => void
  readonly load: (paths: readonly string[]) => LoadedLibrary
  readonly probe: (path: string) => ProbedDriver
  readonly open: (path: string, device: number) => number
  /** Returns whether its streams are empty and no engine runs in it, or its context is dead. */
  readonly isIdle: (cuda: number) => boolean
  /** Returns whether its streams have work other than that of engines; false if its context is dead. */
  readonly hasWork: (cuda: number) => boolean
  /** Returns whether a failed kernel has made its context unusable. Throws no CudaCallError. */
  readonly isDead: (cuda: number) => boolean
  /**
   * Frees everything that was created in it. Returns the error that made the context unusable, if one did; further errors are
   * not thrown then. @throws TypeError if it is not idle.
   */
  readonly close: (cuda: number) => CudaCallError | undefined
  /** Returns the number of hardware work queues, and whether the driver ends long-running kernels. */
  readonly limits: (cuda: number) => { readonly connections: number; readonly hasTimeLimit: boolean }
  readonly allocPinned: (cuda: number, lengthBytes: number) => number
  readonly allocDevice: (cuda: number, lengthBytes: number) => number
  readonly register: (cuda: number, address: bigint, lengthBytes: number, io: boolean) => number
  /** Returns the host's address, 0n for GPU memory, and the GPU's address. */
  readonly describe: (memory: number) => readonly [address: bigint, gpuPointer: bigint]
  /** Returns the GPU's address of host memory; 0n unless the GPU can already access all of its pages. */
  readonly reachable: (cuda: number, address: bigint, lengthBytes: number) => bigint
  readonly buffer: (memory: number) => ArrayBuffer
  /** Returns the file descriptor of a dma-buf, which the caller closes. */
  readonly exportDmaBuf: (cuda: number, gpuPointer: bigint, lengthBytes: number) => number
  /** Calls cuFlushGPUDirectRDMAWrites; the writes are visible on the GPU when it returns. */
  readonly flushWrites: (cuda: number) => void
  /** Returns the address of a view's first byte. */
  readonly addressOf: (view: ArrayBufferView) => bigint
  readonly free: (handle: number) => void
  /** Loads the kernels of these names at once, so that none is loaded later while another kernel runs. */
  readonly loadKernels: (cuda: number, ptx: Uint8Array, names: readonly string[]) => number
  readonly createStream: (cuda: number) => number
  /** `args` has one Uint8Array per parameter of the kernel, of the same length. */
  readonly launch: (
    stream: number,
    name: string,
    grid: readonly number[],
    block: readonly number[],
    args: readonly Uint8Array[],
  ) => void
  /** Records launches in the stream instead of running them, until `endCapture` or `discardCapture`. */
  readonly beginCapture: (stream: number) => void
  readonly discardCapture: (stream: number) => void
  /** Returns a graph of the recorded launches, which `free` frees. */
  readonly endCapture: (stream: number) => number
  readonly launchGraph: (graph: number, stream: number) => void
  readonly copyIn: (stream: number, to: number, toBytes: number, lengthBytes: number, address: bigint) => void
  readonly copyOut: (stream: number, from: number, fromBytes: number, lengthBytes: number, address: bigint) => void
  readonly fill: (stream: number, memory: number, offsetBytes: number, lengthBytes: number, byte: number) => void
  /** Returns for each pair of GPUs [from, to, whether access is supported, performance rank, whether atomics are native]. */
  readonly peers: (path: string) => readonly (readonly [number, number, number, number, number])[]
  /** Enables the first GPU to access the memory of the second. Returns false if it could before. */
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
  /** Returns whether the stream is empty. @throws CudaCallError if its work failed. */
  readonly isDone: (stream: number) => boolean
  /** Resolves with false if the stream's current work does not end within `timeoutNs`. */
  readonly finished: (stream: number, timeoutNs: number) => Promise<boolean>
  /** Creates an engine whose leaders are kernels on this GPU. Call `loadKernels` before; close it before the GPU. */
  readonly createEngine: (cuda: number, options: EngineOptions, onWake: () => void) => EngineHandle
  /**
   * Starts a thread that copies words to doorbells, until `stopDoorbells`. Each doorbell has three elements: the addresses of
   * its word and of its register, and their current value.
   */
  readonly startDoorbells: (tails: BigUint64Array, heads: BigUint64Array) => DoorbellsHandle
  /** Forwards doorbells that were rung before the call, and ends the thread. Has no effect if it has ended. */
  readonly stopDoorbells: (doorbells: DoorbellsHandle) => void
}

let loaded: CudaAddon | undefined

/** Returns the addon gpunvme_cuda, which the first call loads. @throws NativeAddonError */
export function loadCudaAddon(): CudaAddon {
  if (loaded === undefined) {
    const addon = loadNativeAddon('gpunvme_cuda') as CudaAddon
    addon.errors(CudaCallError, CudaTimeoutError)
    loaded = addon
  }
  return loaded
}
