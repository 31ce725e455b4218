import type { Media } from './media.js'

/** One copy serves a 1 MiB command that is aligned to it, and a byte written to an empty namespace costs no more. */
const CHUNK_BYTES = 1024 * 1024

/** Memory that exists only where something was written: a namespace of petabytes costs nothing until it is filled. */
export class RamMedia implements Media {
  readonly capacityBytes: number
  private readonly chunks = new Map<number, Uint8Array>()

  constructor(capacityBytes: number) {
    this.capacityBytes = capacityBytes
  }

  read(offsetBytes: number, into: Uint8Array): void {
    eachChunk(offsetBytes, into, (index, start, part) => {
      const chunk = this.chunks.get(index)
      if (chunk === undefined) part.fill(0)
      else part.set(part.length === CHUNK_BYTES ? chunk : chunk.subarray(start, start + part.length))
    })
  }

  write(offsetBytes: number, from: Uint8Array): void {
    eachChunk(offsetBytes, from, (index, start, part) => {
      let chunk = this.chunks.get(index)
      if (chunk === undefined) this.chunks.set(index, (chunk = new Uint8Array(CHUNK_BYTES)))
      chunk.set(part, start)
    })
  }

  flush(): void {}

  close(): void {
    this.chunks.clear()
  }
}

function eachChunk(
  offsetBytes: number,
  bytes: Uint8Array,
  visit: (index: number, start: number, part: Uint8Array) => void,
): void {
  for (let done = 0; done < bytes.length;) {
    const start = (offsetBytes + done) % CHUNK_BYTES
    const length = Math.min(CHUNK_BYTES - start, bytes.length - done)
    const part = length === bytes.length ? bytes : bytes.subarray(done, done + length)
    visit((offsetBytes + done - start) / CHUNK_BYTES, start, part)
    done += length
  }
}
