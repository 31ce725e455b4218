import { closeSync, constants, fstatSync, openSync, readSync, statSync, type Stats } from 'node:fs'
import { open } from 'node:fs/promises'
import { MachineFileError } from './error.js'

const CHUNK_BYTES = 64 * 1024

/** O_NONBLOCK: a pipe that took the file's place since it was looked at would wait for a writer. */
const FLAGS = constants.O_RDONLY | constants.O_NONBLOCK

/**
 * Reads a regular file whole. Anything else is not opened: opening some devices has effects. A file of sysfs may take as
 * long as a drive takes to answer.
 * @throws MachineFileError for what is not a regular file of at most `maxBytes`; errors of the system.
 */
export async function readRegularFile(path: string, maxBytes: number): Promise<Buffer> {
  refuseIrregular(path, statSync(path))
  const file = await open(path, FLAGS)
  try {
    refuseIrregular(path, await file.stat())
    const pieces = new Pieces(path, maxBytes)
    while (pieces.add((await file.read(pieces.next, 0, CHUNK_BYTES, null)).bytesRead));
    return pieces.whole()
  } finally {
    await file.close()
  }
}

/** As `readRegularFile`, at once. */
export function readRegularFileSync(path: string, maxBytes: number): Buffer {
  refuseIrregular(path, statSync(path))
  const file = openSync(path, FLAGS)
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

/** The pieces of a file, read to its end: sysfs states 4096 bytes and procfs none, whatever a file holds. */
class Pieces {
  /** Where the next piece is read to. */
  next = Buffer.allocUnsafe(CHUNK_BYTES)
  private readonly read: Buffer[] = []
  private lengthBytes = 0
  private readonly path: string
  private readonly maxBytes: number

  constructor(path: string, maxBytes: number) {
    this.path = path
    this.maxBytes = maxBytes
  }

  /** Takes what was read into `next`. @returns whether there may be more. */
  add(readBytes: number): boolean {
    if (readBytes === 0) return false
    this.lengthBytes += readBytes
    if (this.lengthBytes > this.maxBytes) throw new MachineFileError(this.path, `more than ${this.maxBytes} bytes`)
    this.read.push(this.next.subarray(0, readBytes))
    this.next = Buffer.allocUnsafe(CHUNK_BYTES)
    return true
  }

  whole(): Buffer {
    return Buffer.concat(this.read)
  }
}
