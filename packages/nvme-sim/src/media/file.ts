import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import { bytes, checkOptions, flag, optional, type Fields } from '../options.js'
import type { Media } from './media.js'

/** How a file is opened as media. */
export interface FileMediaOptions {
  /** Size of the namespace. A shorter file grows to it, sparse; without it the file's own size counts. */
  readonly capacityBytes?: number
  /** The file is opened for reading only, and writes fail with Namespace is Write Protected. */
  readonly readOnly?: boolean
}

const fields: Fields<FileMediaOptions> = { capacityBytes: optional(bytes(0)), readOnly: optional(flag) }

const PART_BYTES = 64 * 1024

/**
 * A file as a namespace's media: what is packed in one run is there in the next. Missing files are made where
 * `capacityBytes` is given and `readOnly` is not.
 * @throws the error of the file system when the file cannot be opened; RangeError when it leaves no room for a block;
 *   RangeError or TypeError, with its name, for an option that cannot be.
 */
export function fileMedia(path: string, options: FileMediaOptions = {}): Media {
  checkOptions('fileMedia', options, fields)
  return new FileMedia(path, options)
}

class FileMedia implements Media {
  readonly capacityBytes: number
  readonly readOnly: boolean
  private readonly file: number

  constructor(path: string, { capacityBytes, readOnly = false }: FileMediaOptions) {
    const create = capacityBytes !== undefined && !readOnly
    this.readOnly = readOnly
    this.file = openSync(path, readOnly ? constants.O_RDONLY : constants.O_RDWR | (create ? constants.O_CREAT : 0))
    try {
      const { size } = fstatSync(this.file)
      this.capacityBytes = capacityBytes ?? size
      if (this.capacityBytes < 512) throw new RangeError(`${path}: ${this.capacityBytes} bytes hold no logical block`)
      if (create && size < capacityBytes) ftruncateSync(this.file, capacityBytes)
    } catch (error) {
      closeSync(this.file)
      throw error
    }
  }

  read(offsetBytes: number, into: Uint8Array): void {
    for (let done = 0; done < into.length;) {
      const count = readSync(this.file, into, done, into.length - done, offsetBytes + done)
      // Past the end of a shorter file nothing was ever written.
      if (count === 0) return void into.fill(0, done)
      done += count
    }
  }

  write(offsetBytes: number, from: Uint8Array): void {
    for (let done = 0; done < from.length;) {
      done += writeSync(this.file, from, done, from.length - done, offsetBytes + done)
    }
  }

  /** Holes stay holes: only what is not zero is written. */
  deallocate(offsetBytes: number, lengthBytes: number): void {
    if (offsetBytes === 0 && lengthBytes === this.capacityBytes) {
      ftruncateSync(this.file, 0)
      ftruncateSync(this.file, lengthBytes)
      return
    }
    const part = new Uint8Array(PART_BYTES)
    for (let done = 0; done < lengthBytes; done += PART_BYTES) {
      const found = part.subarray(0, Math.min(PART_BYTES, lengthBytes - done))
      this.read(offsetBytes + done, found)
      if (found.some((byte) => byte !== 0)) this.write(offsetBytes + done, found.fill(0))
    }
  }

  flush(): void {
    if (!this.readOnly) fsyncSync(this.file)
  }

  close(): void {
    closeSync(this.file)
  }
}
