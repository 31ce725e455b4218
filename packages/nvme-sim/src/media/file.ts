import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import type { NativeHost } from '@gpunvme/nvme-spec/transport'
import { bytes, callback, checkOptions, flag, optional, type Fields } from '../options.js'
import { DirectReader } from './direct-reader.js'
import type { Media } from './media.js'

/** Options of file media. */
export interface FileMediaOptions {
  /** Size of the namespace. A shorter file grows to it, sparsely. Default: the size of the file. */
  readonly capacityBytes?: number
  /** Opens the file read-only; writes fail with Namespace is Write Protected. */
  readonly readOnly?: boolean
  /**
   * `punchHole` of a native host, such as `loadHardwareHost` of `@gpunvme/cuda-native/host` returns, for deallocating
   * blocks. Without it, and on file systems without holes, blocks are read, and nonzero ones are overwritten with
   * zeroes: this is slower and frees nothing.
   */
  readonly punchHole?: NativeHost['punchHole']
}

const fields: Fields<FileMediaOptions> = {
  capacityBytes: optional(bytes(0)),
  readOnly: optional(flag),
  punchHole: optional(callback),
}

/** Size of reads when clearing, compared in one piece. */
const PART_BYTES = 1024 * 1024
/** Size of overwritten pieces; zero pieces in between stay holes. */
const PIECE_BYTES = 64 * 1024
/** Searched per turn: a millisecond for a hole, some tens of milliseconds for data to be read and written. */
const TURN_BYTES = 16 * PART_BYTES
/** Punched per turn: some tens of milliseconds for written data, some hundred if the kernel writes them first. */
const HOLE_BYTES = 128 * PART_BYTES

const zeroes = new Uint8Array(PART_BYTES)

/**
 * Returns a file as a namespace's media: its data persist across runs. A missing file is created if `capacityBytes` is
 * given and `readOnly` is not.
 * @throws the error of the file system if the file cannot be opened; RangeError if it is smaller than a block;
 *   RangeError or TypeError, with its name, for an invalid option.
 */
export function fileMedia(path: string, options: FileMediaOptions = {}): Media {
  checkOptions('fileMedia', options, fields)
  return new FileMedia(path, options)
}

class FileMedia implements Media {
  readonly capacityBytes: number
  readonly readOnly: boolean
  private readonly file: number
  private direct: DirectReader | undefined
  /** Cleared when the file system reports that it does not support holes. */
  private punchHole: NativeHost['punchHole']

  constructor(path: string, { capacityBytes, readOnly = false, punchHole }: FileMediaOptions) {
    const create = capacityBytes !== undefined && !readOnly
    this.readOnly = readOnly
    this.punchHole = punchHole
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
      // Beyond the end of a shorter file nothing was written.
      if (count === 0) return void into.fill(0, done)
      done += count
    }
  }

  write(offsetBytes: number, from: Uint8Array): void {
    for (let done = 0; done < from.length;) {
      done += writeSync(this.file, from, done, from.length - done, offsetBytes + done)
    }
  }

  deallocate(offsetBytes: number, lengthBytes: number): void {
    for (let done = 0; done < lengthBytes;) done += this.deallocatePart(offsetBytes + done, lengthBytes - done)
  }

  deallocatePart(offsetBytes: number, lengthBytes: number): number {
    const holeBytes = Math.min(lengthBytes, HOLE_BYTES)
    if (this.punchHole?.(this.file, offsetBytes, holeBytes)) return holeBytes
    this.punchHole = undefined
    const turnBytes = Math.min(lengthBytes, TURN_BYTES)
    this.zero(offsetBytes, turnBytes)
    return turnBytes
  }

  flush(): void {
    if (!this.readOnly) fsyncSync(this.file)
  }

  close(): void {
    this.direct?.close()
    closeSync(this.file)
  }

  /**
   * Reads everything, and overwrites only nonzero pieces, so that holes stay holes: Node.js can neither punch nor find
   * them. Truncating and extending the end of the file would be faster, but a process killed in between would leave an
   * image shorter than its namespace.
   */
  private zero(offsetBytes: number, lengthBytes: number): void {
    const endBytes = offsetBytes + lengthBytes
    for (let at = offsetBytes; at < endBytes;) {
      // Parts are aligned for direct I/O, except the first and the last.
      const found = this.look(at, Math.min(endBytes - at, PART_BYTES - (at % PART_BYTES)))
      if (!isZero(found)) this.clear(at, found)
      at += found.length
    }
  }

  /** Returns bytes of the file. */
  private look(offsetBytes: number, lengthBytes: number): Uint8Array {
    this.direct ??= new DirectReader(this.file, PART_BYTES)
    const found = this.direct.read(offsetBytes, lengthBytes)
    if (found !== undefined) return found
    const bytes = new Uint8Array(lengthBytes)
    this.read(offsetBytes, bytes)
    return bytes
  }

  /** Overwrites the nonzero pieces of `found`, read from `offsetBytes`, with zeroes. */
  private clear(offsetBytes: number, found: Uint8Array): void {
    for (let at = 0; at < found.length; at += PIECE_BYTES) {
      const piece = found.subarray(at, at + PIECE_BYTES)
      if (!isZero(piece)) this.write(offsetBytes + at, zeroes.subarray(0, piece.length))
    }
  }
}

/** Compares natively, since a loop over the bytes takes seconds per GiB. */
function isZero(bytes: Uint8Array): boolean {
  return Buffer.compare(bytes, zeroes.subarray(0, bytes.length)) === 0
}
