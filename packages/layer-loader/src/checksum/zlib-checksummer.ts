import { nextTurn, nodeModule } from '@gpunvme/nvme-spec/runtime'
import type { ChecksummedMemory, Checksummer } from '@gpunvme/nvme-spec/transport'
import { checkRange } from '../formats/byte-source.js'
import { bytesIn } from '../store/memory-bytes.js'
import { throwIfAborted } from '../throw-if-aborted.js'

/** Bytes between two turns of the event loop: about 1 ms of work at 4 GB/s. */
const TURN_BYTES = 4 * 1024 * 1024

/**
 * Checksums by Node's `zlib.crc32`: no native code, on the calling thread. Works on memory that has a view. In a
 * browser, it throws NodeRequiredError.
 *
 * Yields to the event loop after a fixed number of bytes, not after a time: in virtual time, where the clock advances
 * while others wait, turns that depended on this machine's speed would change modelled times.
 */
export const zlibChecksummer: Checksummer = {
  name: 'zlib',
  blocks: true,
  async checksum(memory, offsetBytes, lengthBytes, chunkBytes, into, { signal } = {}) {
    throwIfAborted(signal)
    checkPlace(memory, offsetBytes, lengthBytes, chunkBytes, into)
    const { crc32 } = nodeModule('node:zlib') as typeof import('node:zlib')
    let turnAt = TURN_BYTES
    for (let at = 0, chunk = 0; at < lengthBytes; at += chunkBytes, chunk++) {
      const end = Math.min(at + chunkBytes, lengthBytes)
      let crc = 0
      for (let from = at; from < end;) {
        if (from === turnAt) {
          await nextTurn()
          throwIfAborted(signal)
          turnAt += TURN_BYTES
        }
        const to = Math.min(end, turnAt)
        crc = crc32(bytesIn(memory, offsetBytes + from, to - from), crc)
        from = to
      }
      into[chunk] = crc
    }
  },
}

/** @throws RangeError for bytes outside the memory, an invalid length of chunks, and too few elements for sums. */
export function checkPlace(
  memory: ChecksummedMemory,
  offsetBytes: number,
  lengthBytes: number,
  chunkBytes: number,
  into: Uint32Array,
): void {
  checkRange({ name: 'memory', sizeBytes: memory.lengthBytes }, offsetBytes, lengthBytes)
  if (!Number.isSafeInteger(chunkBytes) || chunkBytes <= 0) {
    throw new RangeError(`chunkBytes: expected an integer from 1 on, got ${chunkBytes}`)
  }
  const chunks = Math.ceil(lengthBytes / chunkBytes)
  if (into.length < chunks) throw new RangeError(`into: expected ${chunks} elements, got ${into.length}`)
}
