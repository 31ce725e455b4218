import type { NativeRegion, VfioUserHost } from '@gpunvme/nvme-spec/transport'

/** A file is mapped in windows of 1 GiB: the size of an ArrayBuffer is limited to a few GiB, that of a guest is not. */
export const WINDOW_BYTES = 2 ** 30
/** Windows overlap the next one by this much, so that a ring or a command's data is nearly always contiguous. */
export const OVERLAP_BYTES = 64 * 1024 * 1024

const PAGE_BYTES = 4096

/** Memory of a client: a file with mapped parts, shared by all regions in it. */
export class FileWindows {
  /** Number of regions in it. */
  regions = 0
  readonly key: string
  /** By number, since a file may have holes of many GiB before a region. */
  private readonly windows = new Map<number, NativeRegion>()
  private readonly host: Pick<VfioUserHost, 'mapForeign'>

  /** @param key identity of the file. */
  constructor(key: string, host: Pick<VfioUserHost, 'mapForeign'>) {
    this.key = key
    this.host = host
  }

  /** Number of mapped windows. */
  get count(): number {
    return this.windows.size
  }

  /** Returns how many windows the bytes from `fromByte` to before `toByte` need. */
  static needed(fromByte: number, toByte: number): number {
    return Math.ceil(toByte / WINDOW_BYTES) - Math.floor(fromByte / WINDOW_BYTES)
  }

  /**
   * Maps the unmapped part of the bytes from `fromByte` to before `toByte` of a file of `fileBytes`: completely, or not
   * at all. A window that was too short is mapped anew, so bytes of this file must be looked up again. Windows are
   * whole pages, so that splits between windows are at page boundaries, whatever the file's length.
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

  /** Returns the bytes at `offset` of the file; undefined if they are not in one window. */
  bytes(offset: number, lengthBytes: number): Uint8Array | undefined {
    const index = Math.floor(offset / WINDOW_BYTES)
    const window = this.windows.get(index)
    const at = offset - index * WINDOW_BYTES
    if (window === undefined || at + lengthBytes > window.lengthBytes) return undefined
    return new Uint8Array(window.buffer, at, lengthBytes)
  }

  /** Returns how many of these bytes `bytes` returns at once: all of them, or up to the end of the window. */
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
