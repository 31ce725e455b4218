import type { Stats } from 'node:fs'
import { MachineFileError } from './error.js'
import { nodeJs } from './node-js.js'

const CHUNK_BYTES = 64 * 1024

/** O_NONBLOCK: if a pipe replaced the file after the check, opening it would wait for a writer. */
const flags = () => nodeJs.fs.constants.O_RDONLY | nodeJs.fs.constants.O_NONBLOCK

/**
 * Reads a whole regular file. Does not open other kinds of files, since opening some devices has side effects. Reading a
 * file of sysfs can take as long as the drive takes to respond.
 * @throws MachineFileError unless the file is a regular file of at most `maxBytes`; system errors.
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer> {
  refuseIrregular(path, nodeJs.fs.statSync(path))
  const file = await nodeJs.promises.open(path, flags())
  try {
    refuseIrregular(path, await file.stat())
    const pieces = new Pieces(path, maxBytes)
    while (pieces.add((await file.read(pieces.next, 0, CHUNK_BYTES, null)).bytesRead));
    return pieces.whole()
  } finally {
    await file.close()
  }
}

/** Synchronous form of `readRegularFile`. */
export function readRegularFileSync(path: string, maxBytes: number): Buffer {
  const { closeSync, fstatSync, openSync, readSync, statSync } = nodeJs.fs
  refuseIrregular(path, statSync(path))
  const file = openSync(path, flags())
  try {
    refuseIrregular(path, fstatSync(file))
    const pieces = new Pieces(path, maxBytes)
    while (pieces.add(readSync(file, pieces.next, 0, CHUNK_BYTES, null)));
    return pieces.whole()
  } finally {
    closeSync(file)
  }
}

function refuseIrregular(path: string, found: Stats): void {
  if (!found.isFile()) throw new MachineFileError(path, 'not a regular file')
}

/** Collects the pieces of a file up to its end: sysfs reports a size of 4096 and procfs of 0 for every file. */
class Pieces {
  /** Buffer for the next piece. */
  next = nodeJs.Buffer.allocUnsafe(CHUNK_BYTES)
  private readonly read: Buffer[] = []
  private lengthBytes = 0
  private readonly path: string
  private readonly maxBytes: number

  constructor(path: string, maxBytes: number) {
    this.path = path
    this.maxBytes = maxBytes
  }

  /** Adds the bytes that were read into `next`. Returns whether there may be more. */
  add(readBytes: number): boolean {
    if (readBytes === 0) return false
    this.lengthBytes += readBytes
    if (this.lengthBytes > this.maxBytes) throw new MachineFileError(this.path, `more than ${this.maxBytes} bytes`)
    this.read.push(this.next.subarray(0, readBytes))
    this.next = nodeJs.Buffer.allocUnsafe(CHUNK_BYTES)
    return true
  }

  whole(): Buffer {
    return nodeJs.Buffer.concat(this.read)
  }
}
