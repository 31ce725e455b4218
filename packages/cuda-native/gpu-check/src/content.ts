/** Generates data for drives and writes. Its bytes depend on their position and on the seed. */
export function content(lengthBytes: number, seed: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(lengthBytes / 4))
  for (let index = 0; index < words.length; index++) {
    // A 32-bit hash in which each bit of position and seed affects all bits of the result.
    let word = Math.imul(index ^ Math.imul(seed, 0x9e3779b1), 0x85ebca6b)
    word = Math.imul(word ^ (word >>> 15), 0xc2b2ae35)
    words[index] = word ^ (word >>> 13)
  }
  return new Uint8Array(words.buffer, 0, lengthBytes)
}
