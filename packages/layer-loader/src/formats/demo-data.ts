import { ggmlTypeByName } from './ggml-types.js'

/** Types that the demo model uses. */
export type DemoDtype = 'F32' | 'Q4_0' | 'Q8_0'

/** Approximate bytes generated at a time. */
const PIECE_BYTES = 1024 * 1024

/**
 * Generates data that resemble weights: random, and finite and small when dequantised. The same seed gives the same
 * bytes on every machine.
 *
 * @param lengthBytes a multiple of the block length of the dtype.
 * @param seed any number except 0.
 */
export function* demoData(dtype: DemoDtype, lengthBytes: number, seed: number): Generator<Uint8Array> {
  const { blockBytes } = ggmlTypeByName(dtype)!
  // A multiple of 4 for the generator, and of the block so that each piece starts with a block.
  const pieceBytes = Math.ceil(PIECE_BYTES / (4 * blockBytes)) * 4 * blockBytes
  const piece = new Uint8Array(Math.min(pieceBytes, Math.ceil(lengthBytes / 4) * 4))
  const view = new DataView(piece.buffer)
  let state = seed
  for (let done = 0; done < lengthBytes; done += pieceBytes) {
    state = fillRandom(view, state)
    if (dtype === 'F32') makeNearOne(view)
    else setScales(view, blockBytes, dtype === 'Q4_0' ? 0x2000 : 0x1400)
    yield piece.slice(0, lengthBytes - done)
  }
}

/** Marsaglia's xorshift32 (13, 17, 5): four bytes in a nanosecond, and its state is its last output. */
function fillRandom(view: DataView, seed: number): number {
  let state = seed
  for (let at = 0; at < view.byteLength; at += 4) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    view.setUint32(at, state, true)
  }
  return state
}

/** Keeps 20 random bits of each fraction: values from 1 to 1.125, like the weights of a norm. */
function makeNearOne(view: DataView): void {
  for (let at = 0; at < view.byteLength; at += 4) {
    view.setUint32(at, 0x3f80_0000 | (view.getUint32(at, true) & 0x000f_ffff), true)
  }
}

/**
 * Both types begin a block with its scale, a half-precision float; random bits would make it NaN once in 32. The
 * exponent is given: 0x2000 is 2^-7, for quants from -8 to 7; 0x1400 is 2^-10, for quants from -128 to 127.
 */
function setScales(view: DataView, blockBytes: number, exponentBits: number): void {
  for (let at = 0; at + 2 <= view.byteLength; at += blockBytes) {
    view.setUint16(at, exponentBits | (view.getUint16(at, true) & 0x03ff), true)
  }
}
