import type { NativeRegion, VfioUserHost } from '@gpunvme/nvme-spec/transport'

/** A file is mapped in windows of 1 GiB: an ArrayBuffer has no more than some GiB, and a guest may. */
export const WINDOW_BYTES = 2 ** 30
/** Each window goes on into the next: what begins in a window, as a ring or a command's data, is one piece nearly always. */
export const OVERLAP_BYTES = 64 * 1024 * 1024

const PAGE_BYTES = 4096

/** Memory of a client: a file of which parts are mapped, whichever regions name it. */
export class FileWindows {
  /** Regions that lie in it. */
  regions = 0
  readonly key: string
  /** By their number: a file may have holes of many GiB, and a region lie behind them. */
  private readonly windows = new Map<number, NativeRegion>()
  private readonly host: Pick<VfioUserHost, 'mapForeign'>

  /** @param key which file it is. */
  constructor(key: string, host: Pick<VfioUserHost, 'mapForeign'>) {
    this.key = key
    this.host = host
  }

  /** How many windows are mapped. */
  get count(): number {
    return this.windows.size
  }

  /** How many windows the bytes from `fromByte` to before `toByte` take. */
  static needed(fromByte: number, toByte: number): number {
    return Math.ceil(toByte / WINDOW_BYTES) - Math.floor(fromByte / WINDOW_BYTES)
  }

  /**
   * Maps what is not mapped yet of the bytes from `fromByte` to before `toByte`, of a file of `fileBytes`: all of it, or
   * nothing has changed. A window that was shorter is mapped anew: whoever has bytes of this file must look again.
   * Windows are whole pages, so that what crosses from one into another does so between pages, whatever the file's length.
   * @throws as `mapForeign`.
   */
  map(fd: number, fromByte: number, toByte: number, fileBytes: number): void {
    const made = new Map<number, NativeRegion>()
    const pagesBytes = fileBytes - (fileBytes % PAGE_BYTES)
    try {
      for (let index = Math.floor(fromByte / WINDOW_BYTES); index * WINDOW_BYTES < toByte; index++) {
        const start = index * WINDOW_BYTES
        const lengthBytes = Math.min(WINDOW_BYTES + OVERLAP_BYTES, pagesBytes - start)
        const before = this.windows.get(index)
        // The file may have grown since.
        if (before !== undefined && before.lengthBytes >= Math.min(lengthBytes, toByte - start)) continue
        made.set(index, this.host.mapForeign(fd, start, lengthBytes, 'read-write'))
      }
    } catch (error) {
      for (const window of made.values()) window.unmap()
      throw error
    }
    for (const [index, window] of made) {
      this.windows.get(index)?.unmap()
      this.windows.set(index, window)
    }
  }

  /** The bytes at `offset` of the file; undefined where they are more than a window has. */
  bytes(offset: number, lengthBytes: number): Uint8Array | undefined {
    const index = Math.floor(offset / WINDOW_BYTES)
    const window = this.windows.get(index)
    const at = offset - index * WINDOW_BYTES
    if (window === undefined || at + lengthBytes > window.lengthBytes) return undefined
    return new Uint8Array(window.buffer, at, lengthBytes)
  }

  /** How many of these bytes `bytes` gives at once: all of them, or what the window has that they begin in. */
  reach(offset: number, lengthBytes: number): number {
    const index = Math.floor(offset / WINDOW_BYTES)
    const window = this.windows.get(index)
    if (window === undefined) return 0
    return Math.max(0, Math.min(lengthBytes, window.lengthBytes - (offset - index * WINDOW_BYTES)))
  }

  unmap(): void {
    for (const window of this.windows.values()) window.unmap()
    this.windows.clear()
  }
}
