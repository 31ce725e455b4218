import { crc32 } from 'node:zlib'
import type { ChecksummedMemory, Checksummer } from '@gpunvme/nvme-spec/transport'
import { throwIfAborted } from '../throw-if-aborted.js'

/** How long others wait for the event loop, and with it the submission of I/O, at most: in milliseconds, about. */
const TURN_MS = 1

/** What is summed between two looks at the time. */
const PIECE_BYTES = 256 * 1024

/**
 * Node's own `zlib.crc32`: no native code, on the thread of the caller, which gets a turn for other things about every
 * millisecond. It reaches memory that has a view.
 */
export const zlibChecksummer: Checksummer = {
  name: 'zlib',
  blocks: true,
  async checksum(memory, offsetBytes, lengthBytes, chunkBytes, into, { signal } = {}) {
    throwIfAborted(signal)
    const bytes = bytesOf(memory, offsetBytes, lengthBytes)
    checkChunks(lengthBytes, chunkBytes, into)
    let turnEndsMs = performance.now() + TURN_MS
    for (let at = 0, chunk = 0; at < lengthBytes; at += chunkBytes, chunk++) {
      const end = Math.min(at + chunkBytes, lengthBytes)
      let crc = 0
      for (let from = at; from < end; from += PIECE_BYTES) {
        if (performance.now() >= turnEndsMs) {
          await new Promise(setImmediate)
          throwIfAborted(signal)
          turnEndsMs = performance.now() + TURN_MS
        }
        crc = crc32(bytes.subarray(from, Math.min(from + PIECE_BYTES, end)), crc)
      }
      into[chunk] = crc
    }
  },
}

function bytesOf(
  { view, lengthBytes: whole }: ChecksummedMemory,
  offsetBytes: number,
  lengthBytes: number,
): Uint8Array {
  if (view === undefined)
    throw new TypeError('memory: expected memory with a view, got memory that the host cannot see')
  const isRange = [offsetBytes, lengthBytes].every((value) => Number.isSafeInteger(value) && value >= 0)
  if (!isRange || lengthBytes > whole - offsetBytes) {
    throw new RangeError(
      `memory: expected a range inside 0 to ${whole} bytes, got ${lengthBytes} bytes from ${offsetBytes}`,
    )
  }
  return new Uint8Array(view.buffer, view.byteOffset + offsetBytes, lengthBytes)
}

function checkChunks(lengthBytes: number, chunkBytes: number, into: Uint32Array): void {
  if (!Number.isSafeInteger(chunkBytes) || chunkBytes <= 0) {
    throw new RangeError(`chunkBytes: expected an integer from 1 on, got ${chunkBytes}`)
  }
  const chunks = Math.ceil(lengthBytes / chunkBytes)
  if (into.length < chunks) throw new RangeError(`into: expected ${chunks} elements, got ${into.length}`)
}
