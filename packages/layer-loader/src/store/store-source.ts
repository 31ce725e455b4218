import { checkRange, type ByteSource } from '../formats/byte-source.js'
import { asStore, type Readable } from './as-store.js'
import { readBytes } from './read-bytes.js'

/** Maximum length of a read, which allocates that much of the store's memory. */
const MAX_READ_BYTES = 4 * 1024 * 1024

/**
 * Returns a store as a source of bytes, to read headers and file systems: for example a GGUF at byte `offsetBytes` of a
 * drive. It is a view: closing it leaves the store open.
 * @throws RangeError if the part is outside the store.
 */
export function storeSource(
  target: Readable,
  { offsetBytes = 0, lengthBytes }: { readonly offsetBytes?: number; readonly lengthBytes?: number } = {},
): ByteSource {
  const store = asStore(target)
  const sizeBytes = lengthBytes ?? store.capacityBytes - offsetBytes
  checkRange({ name: store.name, sizeBytes: store.capacityBytes }, offsetBytes, sizeBytes)
  const source: ByteSource = {
    name: offsetBytes === 0 ? store.name : `${store.name} from byte ${offsetBytes}`,
    sizeBytes,
    async read(at, into, { signal } = {}) {
      checkRange(source, at, into.byteLength)
      for (let done = 0; done < into.byteLength; done += MAX_READ_BYTES) {
        const lengthBytes = Math.min(MAX_READ_BYTES, into.byteLength - done)
        into.set(await readBytes(store, offsetBytes + at + done, lengthBytes, signal && { signal }), done)
      }
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  return source
}
