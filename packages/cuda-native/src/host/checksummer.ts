import { setImmediate as turn } from 'node:timers/promises'
import type { Checksummer } from '@gpunvme/nvme-spec/transport'
import { chunksOf, throwIfAborted } from '../checksum-arguments.js'
import { loadAddon } from './addon.js'

/** Approximate size of one task on a thread of libuv, in whole chunks: a fraction of a millisecond. */
const PART_BYTES = 4 * 1024 * 1024

/** Concurrent tasks of one call. libuv has four threads by default, which file reads need too. */
const PARTS_AT_A_TIME = 2

/**
 * Computes checksums in native code: by carry-less multiplication if the processor supports it (PCLMULQDQ; four at once with
 * AVX-512), otherwise by tables. Its name states the method. It reads memory that has a view.
 *
 * Regions and SharedArrayBuffers are read on the thread pool of Node.js, without blocking the event loop. The memory of other
 * ArrayBuffers can be transferred or resized at any time, so it is read on the calling thread: about 4 MiB of whole chunks
 * at a time, with a turn of the event loop after each.
 * @throws NativeAddonError if the addon cannot be loaded: the paths that were tried, and the command that builds it.
 */
export function nativeChecksummer(): Checksummer {
  const addon = loadAddon()
  return {
    name: `native (${addon.checksumWay()})`,
    async checksum(memory, offsetBytes, lengthBytes, chunkBytes, into, { signal } = {}) {
      throwIfAborted(signal)
      const { view } = memory
      if (view === undefined) {
        throw new TypeError('memory: expected memory with a view, got memory that the host cannot access')
      }
      const chunks = chunksOf(memory, offsetBytes, lengthBytes, chunkBytes, into)
      const partChunks = Math.max(1, Math.floor(PART_BYTES / chunkBytes))
      let next = 0
      const lane = async () => {
        while (next < chunks) {
          throwIfAborted(signal)
          const first = next
          next = Math.min(first + partChunks, chunks)
          const at = first * chunkBytes
          const bytes = Math.min((next - first) * chunkBytes, lengthBytes - at)
          await (addon.checksum(view, offsetBytes + at, bytes, chunkBytes, into.subarray(first, next)) ?? turn())
        }
      }
      // Waits for all, even if one fails: nothing may read the memory after this has settled.
      for (const ended of await Promise.allSettled(Array.from({ length: PARTS_AT_A_TIME }, lane))) {
        if (ended.status === 'rejected') throw ended.reason
      }
    },
  }
}
