import type { EngineAddon, EngineHandle, EngineOptions } from '../engine/engine-addon.js'
import { loadNativeAddon } from '../native-addon.js'

declare const handle: unique symbol

/** Handle of a region in the addon. Only `HostRegion` holds one. */
export interface RegionHandle {
  readonly [handle]: never
}

/** Exports of `native/addon.cc`. They check every argument, including handles; for addresses see `EngineAddon`. */
export interface HostAddon extends EngineAddon {
  readonly map: (fd: number, offsetBytes: number, lengthBytes: number, writable: boolean) => RegionHandle
  readonly mapForeign: HostAddon['map']
  readonly lostForeignBytes: () => number
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
  readonly signalEventfd: (fd: number) => void
  readonly drainEventfd: (fd: number) => boolean
  /** Moves the file open as `from` to the descriptor `to`, as dup2 and close do. Returns `to`. */
  readonly move: (from: number, to: number) => number
  readonly waitReadable: (fd: number, timeoutNs: number) => Promise<boolean>
  readonly memlockLimitBytes: () => number
  readonly punchHole: (fd: number, offsetBytes: number, lengthBytes: number) => boolean
  /** As in `SocketHost`, but the descriptor is not adopted yet. */
  readonly listen: (path: string) => number
  /** Returns -1 if no connection is pending. */
  readonly accept: (listener: number) => number
  readonly connect: (path: string) => number
  readonly receive: (socket: number, into: Uint8Array, descriptors: Int32Array) => number
  readonly send: (socket: number, bytes: Uint8Array, descriptors: Int32Array | undefined, timeoutNs: number) => void
  readonly poll: (descriptors: Int32Array, timeoutNs: number) => number
  /** Returns whether calls on a descriptor never wait for a file system: memory, an eventfd. */
  readonly neverWaits: (fd: number) => boolean
  /** Closes a descriptor that was not adopted, without waiting for its file system. */
  readonly closeReceived: (fd: number) => void
  /**
   * Reads regions and SharedArrayBuffers on libuv's threads, and keeps them until the promise is settled. Reads other memory
   * before the call returns, and returns undefined.
   */
  readonly checksum: (
    view: DataView,
    offsetBytes: number,
    lengthBytes: number,
    chunkBytes: number,
    into: Uint32Array,
  ) => Promise<void> | undefined
  /**
   * Reads a file on libuv's threads, and computes checksums of its first `summedBytes`. Resolves with the number of bytes read.
   * Returns undefined for memory that `checksum` reads before it returns.
   */
  readonly readFile: (
    fd: number,
    fileOffsetBytes: number,
    view: DataView,
    offsetBytes: number,
    lengthBytes: number,
    chunkBytes: number,
    summedBytes: number,
    into: Uint32Array,
  ) => Promise<number> | undefined
  /** Returns the method for this processor: 'avx512', 'pclmulqdq' or 'tables'. */
  readonly checksumWay: () => string
  /** Creates an engine whose leaders are threads of this process. */
  readonly createEngine: (options: EngineOptions, onWake: () => void) => EngineHandle
}

/** Loads the first of `places` that can be loaded. @throws NativeAddonError */
export function loadAddon(places?: readonly string[]): HostAddon {
  return loadNativeAddon('gpunvme_host', places) as HostAddon
}
