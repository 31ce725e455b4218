/** Bytes that say where they belong, other ones for each seed: what a drive holds, and what is written to it. */
export function content(lengthBytes: number, seed: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(Math.ceil(lengthBytes / 4))
  for (let index = 0; index < words.length; index++) {
    // A mixing of 32 bits in which every bit of position and seed reaches every other one.
    let word = Math.imul(index ^ Math.imul(seed, 0x9e3779b1), 0x85ebca6b)
    word = Math.imul(word ^ (word >>> 15), 0xc2b2ae35)
    words[index] = word ^ (word >>> 13)
  }
  return new Uint8Array(words.buffer, 0, lengthBytes)
}
