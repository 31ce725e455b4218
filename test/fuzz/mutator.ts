import { Dice } from '../../packages/nvme-sim/dst/dice.js'

export { Dice }

/** Boundary values of fields, counters and checks. */
const BOUNDARIES = [0, 1, 2, 7, 8, 16, 0x7f, 0x80, 0xff, 0x100, 511, 512, 513, 4095, 4096, 0x7fff, 0x8000, 0xffff]
const BIG_BOUNDARIES = [2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1, 2 ** 32, 2 ** 40, 2 ** 53 - 1, 2 ** 53].map(BigInt)
const BOUNDARIES_64 = [...BOUNDARIES.map(BigInt), ...BIG_BOUNDARIES, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 1n]

const WORDS = [
  '0',
  '-1',
  '1.5',
  '1e999',
  '-0',
  '9007199254740993',
  'null',
  'true',
  '""',
  '[]',
  '{}',
  '"',
  '\\',
  '\\u0000',
  '\0',
]
const NESTED = '['.repeat(20_000) + ']'.repeat(20_000)

/** The bytes of an input to change: a range, or the whole input. */
export type Range = readonly [offsetBytes: number, lengthBytes: number]

type Mutation = (bytes: Buffer, at: number, dice: Dice) => Buffer

/** Mutations that keep the length. */
const IN_PLACE: readonly Mutation[] = [
  // One bit.
  (bytes, at, dice) => put(bytes, at, Uint8Array.of(bytes[at]! ^ (1 << dice.int(0, 7)))),
  (bytes, at, dice) => put(bytes, at, Uint8Array.of(dice.int(0, 255))),
  // A number of 16, 32 or 64 bits, at its natural alignment or anywhere.
  (bytes, at, dice) => {
    const width = dice.pick([2, 4, 8])
    const place = dice.chance(0.7) ? at - (at % width) : at
    return put(bytes, place, littleEndian(dice.pick(BOUNDARIES_64), width))
  },
  // A number that looks like a length or an offset, made slightly wrong.
  (bytes, at, dice) => {
    const width = dice.pick([2, 4, 8])
    const place = lengthNear(bytes, at, width)
    const value = read(bytes, place, width)
    return put(
      bytes,
      place,
      littleEndian(dice.pick([value + 1n, value - 1n, value * 2n, value << 16n, value ^ 0x100n]), width),
    )
  },
  // Copy a part of the input over another part.
  (bytes, at, dice) => {
    const from = dice.int(0, bytes.length - 1)
    return put(bytes, at, Uint8Array.from(bytes.subarray(from, from + dice.int(1, 64))))
  },
  // A run of one byte, or of noise.
  (bytes, at, dice) => {
    const fill = dice.pick([0, 0xff, undefined])
    return put(
      bytes,
      at,
      Uint8Array.from({ length: dice.int(1, 64) }, () => fill ?? dice.int(0, 255)),
    )
  },
]

/** Mutations of the length. */
const RESIZING: readonly Mutation[] = [
  (bytes, at) => bytes.subarray(0, at),
  (bytes, at, dice) => cut(bytes, at, dice.int(1, 64), Buffer.alloc(0)),
  // Insert a copy of a part of the input.
  (bytes, at, dice) => cut(bytes, at, 0, bytes.subarray(at, at + dice.int(1, 256))),
  (bytes, at, dice) => cut(bytes, at, 0, Buffer.from(Array.from({ length: dice.int(1, 64) }, () => dice.int(0, 255)))),
]

/** Mutations of JSON: other numbers and words, and very deep nesting. */
const TEXTUAL: readonly Mutation[] = [
  (bytes, at, dice) =>
    replaceNear(bytes, at, /-?\d+(\.\d+)?/g, dice.pick([...WORDS, String(dice.pick(BOUNDARIES_64))])),
  (bytes, at, dice) => replaceNear(bytes, at, /"[^"]*"|\btrue\b|\bfalse\b|\bnull\b|-?\d+/g, dice.pick(WORDS)),
  (bytes, at, dice) => cut(bytes, at, dice.int(0, 2), Buffer.from(dice.pick(WORDS))),
  // Replace a string by another string of the input: a duplicate key, or a key as a value.
  (bytes, at, dice) => {
    const strings = bytes.toString('latin1').match(/"[^"]*"/g) ?? ['""']
    return replaceNear(bytes, at, /"[^"]*"/g, dice.pick(strings))
  },
  (bytes, at, dice) =>
    replaceNear(bytes, at, /"[^"]*"|-?\d+|\[\]|\{\}/g, dice.pick([NESTED, '"a'.padEnd(70_000, 'b') + '"'])),
]

const KINDS = {
  /** Fields at fixed offsets: mutations keep the length. */
  fields: IN_PLACE,
  bytes: [...IN_PLACE, ...RESIZING],
  /** JSON, or a file that contains JSON. */
  json: [...IN_PLACE, ...RESIZING, ...TEXTUAL, ...TEXTUAL],
}

/**
 * Returns a copy of a valid input with one to four mutations.
 * @param ranges the ranges in which mutations begin. Default: the whole input.
 */
export function mutate(
  input: Uint8Array,
  dice: Dice,
  kind: keyof typeof KINDS = 'bytes',
  ranges: readonly Range[] = [[0, input.byteLength]],
): Buffer {
  let bytes: Buffer = Buffer.from(input)
  for (
    let left: number = dice.weighted([
      [6, 1],
      [2, 2],
      [1, 4],
    ] as const);
    left > 0 && bytes.length > 0;
    left--
  ) {
    const [offsetBytes, lengthBytes] = dice.pick(ranges)
    const at = Math.min(offsetBytes + dice.int(0, Math.max(0, lengthBytes - 1)), bytes.length - 1)
    bytes = dice.pick<Mutation>(KINDS[kind])(bytes, at, dice)
  }
  return bytes
}

function put(bytes: Buffer, at: number, content: Uint8Array): Buffer {
  bytes.set(content.subarray(0, bytes.length - at), at)
  return bytes
}

function cut(bytes: Buffer, at: number, removedBytes: number, added: Uint8Array): Buffer {
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at + removedBytes)])
}

function littleEndian(value: bigint, width: number): Uint8Array {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(BigInt.asUintN(64, value))
  return bytes.subarray(0, width)
}

function read(bytes: Buffer, at: number, width: number): bigint {
  const padded = Buffer.alloc(8)
  bytes.copy(padded, 0, at, Math.min(at + width, bytes.length))
  return padded.readBigUInt64LE()
}

/** Returns the offset, at or shortly after `at`, of a number in the magnitude of the input's length. */
function lengthNear(bytes: Buffer, at: number, width: number): number {
  for (let place = at; place < Math.min(at + 64, bytes.length - width); place++) {
    const value = read(bytes, place, width)
    if (value > 0n && value <= BigInt(bytes.length)) return place
  }
  return at
}

/** Replaces the first match after `at`, or the first match of all if there is none. */
function replaceNear(bytes: Buffer, at: number, pattern: RegExp, by: string): Buffer {
  const text = bytes.toString('latin1')
  for (const from of [at, 0]) {
    pattern.lastIndex = from
    const match = pattern.exec(text)
    if (match !== null)
      return Buffer.from(text.slice(0, match.index) + by + text.slice(match.index + match[0].length), 'latin1')
  }
  return bytes
}
