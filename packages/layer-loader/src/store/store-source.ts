import { readPieces } from '../flow/read-pieces.js'
import { checkRange, type ByteSource } from '../formats/byte-source.js'
import { asStore, type Readable } from './as-store.js'

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
      const range = { offsetBytes: offsetBytes + at, lengthBytes: into.byteLength }
      for await (const piece of readPieces(store, range, signal && { signal })) {
        into.set(piece.bytes, piece.offsetBytes - range.offsetBytes)
      }
    },
    close: () => Promise.resolve(),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  return source
}
