import { closeSync, constants, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'

/**
 * Memory of the machine as a file that QEMU has mapped: what either side writes is the other's at once, since both are
 * the same pages. By `fs` alone it is read and written; where a native host can map it, it is memory of this process too.
 */
export class SharedFile {
  readonly path: string
  readonly lengthBytes: number
  readonly #region: NativeRegion | undefined
  #fd: number | undefined

  /** Makes the file, all zeros. It is a sparse one: only what is touched takes room. */
  constructor(path: string, lengthBytes: number, host?: HardwareHost) {
    this.path = path
    this.lengthBytes = lengthBytes
    const fd = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
    try {
      ftruncateSync(fd, lengthBytes)
      this.#region = host?.map(fd, 0, lengthBytes, 'read-write')
    } catch (error) {
      closeSync(fd)
      throw error
    }
    this.#fd = fd
  }

  /** The memory itself; undefined where nobody can map it. */
  view(offsetBytes: number, lengthBytes: number): DataView | undefined {
    return this.#region && new DataView(this.#region.buffer, offsetBytes, lengthBytes)
  }

  /** Fills `into` from there on. Nothing happens once it is closed: the number of its file may be another's by then. */
  read(offsetBytes: number, into: Uint8Array): void {
    if (this.#fd !== undefined) readSync(this.#fd, into, 0, into.length, offsetBytes)
  }

  /** Stores `bytes` from there on. Nothing happens once it is closed. */
  write(offsetBytes: number, bytes: Uint8Array): void {
    if (this.#fd !== undefined) writeSync(this.#fd, bytes, 0, bytes.length, offsetBytes)
  }

  close(): void {
    if (this.#fd === undefined) return
    this.#region?.unmap()
    closeSync(this.#fd)
    this.#fd = undefined
  }
}
