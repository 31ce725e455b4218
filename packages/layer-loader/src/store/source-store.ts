import type { ByteSource } from '../formats/byte-source.js'
import { FileBlocks, type ReadableFile } from './file-store-blocks.js'
import type { BlockStore } from './store.js'

/** Block size of the store: that of a file that is read through the page cache. */
const BLOCK_BYTES = 4096

/** Returns a source as a store, which reads four pieces of up to 4 MiB at a time. The caller closes the source. */
export function sourceStore(source: ByteSource): BlockStore {
  const { name, sizeBytes } = source
  const file: ReadableFile = {
    async read(into, at, lengthBytes, offsetBytes, signal) {
      const bytesRead = Math.min(lengthBytes, sizeBytes - offsetBytes)
      const abort = new AbortController()
      const onAbort = () => abort.abort(signal?.reason)
      signal?.addEventListener('abort', onAbort)
      try {
        await source.read(offsetBytes, into.subarray(at, at + bytesRead), { signal: abort.signal })
      } finally {
        signal?.removeEventListener('abort', onAbort)
      }
      return { bytesRead }
    },
    close: () => Promise.resolve(),
  }
  return new FileBlocks(name, file, { sizeBytes, blockBytes: BLOCK_BYTES, memoryAlignBytes: 1 })
}
