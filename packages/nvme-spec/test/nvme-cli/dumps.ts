/** A structure for nvme-cli: valid in the fields that nvme-cli relies on, and extreme in all others. */
export interface Dump {
  readonly name: string
  readonly data: DataView
}

/** Position of a field, the only information that the generator uses of the declarations under test. */
export interface Place {
  readonly offset: number
  readonly lengthBytes: number
}

const RANDOM_DUMPS = 16

/** Returns a generator of reproducible 32-bit numbers (mulberry32). */
function mulberry32(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
}

/**
 * Returns dumps of zeroes, of ones, with one field at its maximum and all others zero, with a bit that walks through
 * every byte, and of random bytes. `legalize` replaces values that nvme-cli cannot handle by valid ones.
 */
export function generateDumps(
  lengthBytes: number,
  places: Readonly<Record<string, Place>>,
  legalize: (bytes: Uint8Array) => void,
): Dump[] {
  const dump = (name: string, byteAt: (index: number) => number): Dump => {
    const bytes = Uint8Array.from({ length: lengthBytes }, (_, index) => byteAt(index))
    legalize(bytes)
    return { name, data: new DataView(bytes.buffer) }
  }
  const dumps = [dump('all zeroes', () => 0), dump('all ones', () => 0xff)]
  for (const [name, { offset, lengthBytes: width }] of Object.entries(places)) {
    dumps.push(dump(`${name} at its maximum`, (i) => (i >= offset && i < offset + width ? 0xff : 0)))
  }
  for (let bit = 0; bit < 8; bit++) dumps.push(dump(`a walking bit, from ${bit}`, (i) => 1 << ((i + bit) % 8)))
  for (let seed = 1; seed <= RANDOM_DUMPS; seed++) {
    const random = mulberry32(seed)
    dumps.push(dump(`random, seed ${seed}`, () => random() & 0xff))
  }
  return dumps
}

/** Replaces the bytes of a text by printable ASCII, unless all are zero. */
function printable(bytes: Uint8Array, offset: number, lengthBytes: number, endedByNull: boolean): void {
  const text = bytes.subarray(offset, offset + lengthBytes)
  if (text.every((byte) => byte === 0)) return
  text.forEach((byte, index) => {
    if (byte !== 0 || !endedByNull) text[index] = 0x20 + (byte % 95)
  })
}

/** Makes Identify Controller valid: SN, MN, FR and SUBNQN are text; nvme-cli reads NPSS + 1 power states unchecked. */
export function legalController(bytes: Uint8Array): void {
  printable(bytes, 4, 20, false)
  printable(bytes, 24, 40, false)
  printable(bytes, 64, 8, false)
  printable(bytes, 768, 256, true)
  bytes[263]! &= 31
}

/** Makes Identify Namespace valid: of 64 LBA formats, nvme-cli reads NLBAF + 1 + NULBAF. */
export function legalNamespace(bytes: Uint8Array): void {
  bytes[25]! &= 63
  bytes[82] = Math.min(bytes[82]!, 63 - bytes[25]!)
}
