import { checkOptions } from '../options.js'
import { capacity } from './check.js'
import type { Media } from './media.js'

/** An aligned command of 1 MiB needs one copy, and a byte written to an empty namespace allocates no more. */
const CHUNK_BYTES = 1024 * 1024

/** Memory that is allocated only where it was written: an empty namespace of petabytes costs nothing. */
export class RamMedia implements Media {
  readonly capacityBytes: number
  private readonly chunks = new Map<number, Uint8Array>()
  /** The chunk read last, and its base: consecutive commands are often adjacent. */
  private last: Uint8Array | undefined
  private lastBase = -1

  /** @throws RangeError or TypeError if the capacity is not a whole number of at least 512 bytes. */
  constructor(capacityBytes: number) {
    checkOptions('RamMedia', { capacityBytes }, { capacityBytes: capacity })
    this.capacityBytes = capacityBytes
  }

  read(offsetBytes: number, into: Uint8Array): void {
    const start = offsetBytes % CHUNK_BYTES
    // Nearly every command is inside one chunk; others are split.
    if (start + into.length <= CHUNK_BYTES) this.readPart(offsetBytes - start, start, into)
    else
      eachChunk(offsetBytes, into.length, (base, from, at, length) => {
        this.readPart(base, from, into.subarray(at, at + length))
      })
  }

  write(offsetBytes: number, from: Uint8Array): void {
    const start = offsetBytes % CHUNK_BYTES
    if (start + from.length <= CHUNK_BYTES) this.writePart(offsetBytes - start, start, from)
    else
      eachChunk(offsetBytes, from.length, (base, to, at, length) => {
        this.writePart(base, to, from.subarray(at, at + length))
      })
  }

  deallocate(offsetBytes: number, lengthBytes: number): void {
    this.lastBase = -1
    const endBytes = offsetBytes + lengthBytes
    // Iterates over existing chunks: a range may exceed any memory.
    for (const [base, chunk] of this.chunks) {
      const from = Math.max(offsetBytes, base)
      const to = Math.min(endBytes, base + CHUNK_BYTES)
      if (to - from === CHUNK_BYTES) this.chunks.delete(base)
      else if (to > from) chunk.fill(0, from - base, to - base)
    }
  }

  flush(): void {}

  close(): void {
    this.lastBase = -1
    this.last = undefined
    this.chunks.clear()
  }

  private readPart(base: number, start: number, into: Uint8Array): void {
    if (base !== this.lastBase) {
      this.last = this.chunks.get(base)
      // A chunk that does not exist yet may be created by a write.
      this.lastBase = this.last === undefined ? -1 : base
    }
    const chunk = this.last
    if (chunk === undefined) into.fill(0)
    else into.set(into.length === CHUNK_BYTES ? chunk : chunk.subarray(start, start + into.length))
  }

  private writePart(base: number, start: number, from: Uint8Array): void {
    let chunk = this.chunks.get(base)
    if (chunk === undefined) this.chunks.set(base, (chunk = new Uint8Array(CHUNK_BYTES)))
    chunk.set(from, start)
  }
}

function eachChunk(
  offsetBytes: number,
  lengthBytes: number,
  visit: (base: number, start: number, at: number, lengthBytes: number) => void,
): void {
  for (let done = 0; done < lengthBytes;) {
    const start = (offsetBytes + done) % CHUNK_BYTES
    const length = Math.min(CHUNK_BYTES - start, lengthBytes - done)
    visit(offsetBytes + done - start, start, done, length)
    done += length
  }
}
