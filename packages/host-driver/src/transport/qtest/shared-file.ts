import { closeSync, constants, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import type { HardwareHost, NativeRegion } from '@gpunvme/nvme-spec/transport'

/**
 * Memory of the machine, as a file that QEMU maps: both sides see each write at once, since they share its pages. It is
 * accessed by `fs`; if a native host can map it, it is memory of this process too.
 */
export class SharedFile {
  readonly path: string
  readonly lengthBytes: number
  readonly #region: NativeRegion | undefined
  #fd: number | undefined

  /** Creates the file, sparse and all zeros. */
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

  /** Returns the memory itself; undefined if it cannot be mapped. */
  view(offsetBytes: number, lengthBytes: number): DataView | undefined {
    return this.#region && new DataView(this.#region.buffer, offsetBytes, lengthBytes)
  }

  /** Reads into `into`. No effect after close, when the descriptor may be that of another file. */
  read(offsetBytes: number, into: Uint8Array): void {
    if (this.#fd !== undefined) readSync(this.#fd, into, 0, into.length, offsetBytes)
  }

  /** Writes `bytes`. No effect after close. */
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
