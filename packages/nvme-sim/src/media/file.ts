import { closeSync, constants, fstatSync, fsyncSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs'
import type { NativeHost } from '@gpunvme/nvme-spec/transport'
import { bytes, callback, checkOptions, flag, optional, type Fields } from '../options.js'
import { DirectReader } from './direct-reader.js'
import type { Media } from './media.js'

/** How a file is opened as media. */
export interface FileMediaOptions {
  /** Size of the namespace. A shorter file grows to it, sparse; without it the file's own size counts. */
  readonly capacityBytes?: number
  /** The file is opened for reading only, and writes fail with Namespace is Write Protected. */
  readonly readOnly?: boolean
  /**
   * How blocks are deallocated: that of a native host, as `loadHardwareHost` of `@gpunvme/cuda-native/host` gives it.
   * Without it, and on file systems that have no holes, all of them are read, and zeroes are written over what is not
   * zero: that takes longer and gives nothing back.
   */
  readonly punchHole?: NativeHost['punchHole']
}

const fields: Fields<FileMediaOptions> = {
  capacityBytes: optional(bytes(0)),
  readOnly: optional(flag),
  punchHole: optional(callback),
}

/** Read at a time where something is to be cleared, and compared in one piece. */
const PART_BYTES = 1024 * 1024
/** Cleared at a time: what is already zero between two pieces stays a hole. */
const PIECE_BYTES = 64 * 1024
/** Looked through in one turn: a millisecond of a hole, and some tens of them of what has to be read and written. */
const TURN_BYTES = 16 * PART_BYTES
/** Punched in one turn: some tens of milliseconds where it was written, some hundred where the kernel writes it first. */
const HOLE_BYTES = 128 * PART_BYTES

const zeroes = new Uint8Array(PART_BYTES)

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
  private direct: DirectReader | undefined
  /** Until the file system has said that it has no holes. */
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
   * Reads it all, and writes over what is not zero alone, so that holes stay holes: Node.js can neither punch them nor
   * ask where they are. The end of a file is treated no better: cut off and grown again it would be a hole at once, but
   * whoever is killed in between leaves an image that is shorter than its namespace.
   */
  private zero(offsetBytes: number, lengthBytes: number): void {
    const endBytes = offsetBytes + lengthBytes
    for (let at = offsetBytes; at < endBytes;) {
      // Parts lie as they must for direct I/O, but for the first and the last.
      const found = this.look(at, Math.min(endBytes - at, PART_BYTES - (at % PART_BYTES)))
      if (!isZero(found)) this.clear(at, found)
      at += found.length
    }
  }

  /** Some bytes of the file. */
  private look(offsetBytes: number, lengthBytes: number): Uint8Array {
    this.direct ??= new DirectReader(this.file, PART_BYTES)
    const found = this.direct.read(offsetBytes, lengthBytes)
    if (found !== undefined) return found
    const bytes = new Uint8Array(lengthBytes)
    this.read(offsetBytes, bytes)
    return bytes
  }

  /** Writes zeroes over the pieces of `found`, which lies at `offsetBytes`, that are not zero. */
  private clear(offsetBytes: number, found: Uint8Array): void {
    for (let at = 0; at < found.length; at += PIECE_BYTES) {
      const piece = found.subarray(at, at + PIECE_BYTES)
      if (!isZero(piece)) this.write(offsetBytes + at, zeroes.subarray(0, piece.length))
    }
  }
}

/** By the machine's own comparison: byte by byte, a hole of a GiB took seconds. */
function isZero(bytes: Uint8Array): boolean {
  return Buffer.compare(bytes, zeroes.subarray(0, bytes.length)) === 0
}
