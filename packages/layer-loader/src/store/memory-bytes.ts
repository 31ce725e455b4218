import { optionalNodeModule } from '@gpunvme/nvme-spec/runtime'
import { checkRange } from '../formats/byte-source.js'
import type { Move } from '../load/load-plan.js'

/**
 * Maximum length of a Uint8Array: 4 GiB on Node 20. An ArrayBuffer and a DataView can be longer, so a long memory keeps
 * only its DataView, and arrays over parts of it are created on demand.
 */
export const MAX_ARRAY_BYTES =
  (optionalNodeModule('node:buffer') as typeof import('node:buffer') | undefined)?.constants.MAX_LENGTH ?? 2 ** 31 - 1

/** Unit of filling and moving, far below `MAX_ARRAY_BYTES`. */
const PIECE_BYTES = 256 * 1024 * 1024

/** Memory that the CPU can reach. */
type Visible = { readonly view?: DataView | undefined }

/**
 * Returns a part of host memory as bytes: a view, not a copy.
 * @throws TypeError for memory without a view; RangeError for more than `MAX_ARRAY_BYTES`, or past its end.
 */
export function bytesIn({ view }: Visible, offsetBytes: number, lengthBytes: number): Uint8Array {
  if (view === undefined)
    throw new TypeError('memory: expected memory with a view, got memory that the host cannot see')
  checkRange({ name: 'memory', sizeBytes: view.byteLength }, offsetBytes, lengthBytes)
  return new Uint8Array(view.buffer, view.byteOffset + offsetBytes, lengthBytes)
}

/** Fills host memory of any length. @throws the errors of `bytesIn`. */
export function fillBytes(memory: Visible, value: number, lengthBytes: number, pieceBytes = PIECE_BYTES): void {
  for (let at = 0; at < lengthBytes; at += pieceBytes) {
    bytesIn(memory, at, Math.min(pieceBytes, lengthBytes - at)).fill(value)
  }
}

/**
 * Moves bytes inside host memory; source and destination may overlap, and both may be of any length.
 * @throws the errors of `bytesIn`.
 */
export function moveBytes(memory: Visible, { fromBytes, toBytes, lengthBytes }: Move, pieceBytes = PIECE_BYTES): void {
  // Upwards from the end, downwards from the start: no piece overwrites another that has yet to move.
  const isUp = toBytes > fromBytes
  for (let done = 0; done < lengthBytes; done += pieceBytes) {
    const bytes = Math.min(pieceBytes, lengthBytes - done)
    const at = isUp ? lengthBytes - done - bytes : done
    // `set` copies as if by a temporary array if the two overlap.
    bytesIn(memory, toBytes + at, bytes).set(bytesIn(memory, fromBytes + at, bytes))
  }
}
