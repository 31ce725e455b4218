import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { allCommands, allFeatures, declarationsIn } from '../src/all.js'
import * as fabrics from '../src/fabrics/index.js'
import { CQE, decodeSqe, encodeSqe, formatCqe, formatSqe, registers } from '../src/index.js'
import {
  decodeFields,
  describeFields,
  encodeFields,
  type AnyFeature,
  type AnyRegister,
  type AnyWord32,
  type FeatureDword,
  type Layout,
} from '../src/layout/index.js'
import * as vfioUser from '../src/vfio-user/index.js'
import { legalTexts, legalWord, memoryOf } from './arbitrary.js'
import { toHex, unwritten } from './bytes.js'
import { declared } from './declared.js'

const inFabrics = declarationsIn(fabrics)
const structures: readonly Layout[] = [
  ...[...declared.structs, ...allCommands, ...declarationsIn(vfioUser).structs],
  ...inFabrics.structs,
]

describe.each(structures)('$name', (struct) => {
  // Few runs for long structures: each run draws every bit at random.
  const numRuns = struct.bytes > 512 ? 5 : 50
  const isCommand = 'opcode' in struct
  const memory = memoryOf(struct).map((data) => {
    if (isCommand) data.setUint8(0, (struct as { opcode: number }).opcode)
    return data
  })

  it('encodes decoded values to the same bytes, including reserved bits, at any offset', () => {
    fc.assert(
      fc.property(memory, fc.nat(8), (data, byteOffset) => {
        const copy = unwritten(struct.bytes + 16)
        encodeFields(struct, copy, byteOffset, decodeFields(struct, data))
        expect(toHex(copy, byteOffset, struct.bytes)).toBe(toHex(data))
      }),
      { numRuns },
    )
  })

  it('encodes decoded reserved values to the same bytes with allowReserved', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: struct.bytes, maxLength: struct.bytes }), (bytes) => {
        // Padding of text is normalized; all other bytes are arbitrary.
        const data = legalTexts(struct, bytes)
        const copy = unwritten(struct.bytes)
        encodeFields(struct, copy, 0, decodeFields(struct, data), { allowReserved: true })
        expect(toHex(copy)).toBe(toHex(data))
      }),
      { numRuns },
    )
  })

  it('shows every bit that is set, whether or not a row declares it', () => {
    fc.assert(
      fc.property(fc.nat(struct.bytes * 8 - 1), (at) => {
        const data = new DataView(new ArrayBuffer(struct.bytes))
        data.setUint8(at >>> 3, 1 << (at & 7))
        // A space that pads text is the only byte that is not shown.
        const blank =
          data.getUint8(at >>> 3) === 0x20 && describeFields(struct, data).some((line) => line.endsWith('=""'))
        expect(describeFields(struct, data).length === 1 || blank).toBe(true)
      }),
      { numRuns },
    )
  })

  it('reads any bytes, and rejects too few with the required length and the source', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: struct.bytes + 8 }), (bytes) => {
        const data = new DataView(bytes.slice().buffer)
        if (bytes.length < struct.bytes) {
          for (const read of [() => decodeFields(struct, data), () => describeFields(struct, data)]) {
            expect(read).toThrow(RangeError)
            expect(read).toThrow(`${struct.name} needs ${struct.bytes} bytes at offset 0, got ${bytes.length}`)
            expect(read).toThrow(struct.spec)
          }
        } else {
          expect(Object.keys(decodeFields(struct, data))).toEqual(expect.arrayContaining(Object.keys(struct.fields)))
          expect(describeFields(struct, data).join()).not.toMatch(/undefined|NaN|\[object|[^\x20-\x7e]/)
        }
      }),
      { numRuns },
    )
  })
})

describe.each(registers as readonly AnyRegister[])('register $name', (register) => {
  it('encodes decoded values to the same word, and formats them', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, (1n << BigInt(register.widthBits)) - 1n), (random) => {
        const legal = legalWord(register.fields, random)
        const raw = register.widthBits === 32 ? Number(legal) : legal
        expect(register.encode(register.decode(raw) as Record<string, number | bigint>)).toBe(raw)
        expect(register.format(raw)).not.toMatch(/undefined|NaN|\[object/)
      }),
    )
  })
})

const words = [
  ...declared.words,
  ...inFabrics.words,
  ...allFeatures.flatMap((feature: AnyFeature) =>
    Object.keys(feature)
      .filter((key) => /^C?DW\d+$/.test(key))
      .map((key) => feature[key as FeatureDword] as AnyWord32),
  ),
]

describe.each(words)('$name', (word) => {
  it('encodes decoded values to the same dword', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 0xffff_ffffn), (random) => {
        const raw = Number(legalWord(word.fields, random))
        expect(word.encode(word.decode(raw))).toBe(raw)
      }),
    )
  })
})

describe('submission queue entries', () => {
  it.each(['admin', 'nvm', 'zns'] as const)('of %s keep their 64 bytes when decoded and encoded', (set) => {
    const opcodes = allCommands.filter((command) => command.set === set).map(({ opcode }) => opcode)
    const fids = fc.constantFrom(...allFeatures.map(({ fid }) => fid), 0xc0)
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 64, maxLength: 64 }),
        fc.constantFrom(...opcodes, 0x7f, 0xff),
        fids,
        fc.nat(8),
        (bytes, opcode, fid, byteOffset) => {
          const data = new DataView(bytes.slice().buffer)
          data.setUint8(0, opcode)
          data.setUint8(40, fid)
          const copy = unwritten(80)
          encodeSqe(decodeSqe(set, data), copy, byteOffset)
          expect(toHex(copy, byteOffset, 64)).toBe(toHex(data))
        },
      ),
      { numRuns: 2000 },
    )
  })
})

describe('decoding random bytes', () => {
  it('throws only a RangeError, for too few bytes', () => {
    const sets = fc.constantFrom('admin' as const, 'nvm' as const, 'zns' as const)
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), sets, fc.nat(16), (bytes, set, byteOffset) => {
        const data = new DataView(bytes.slice().buffer)
        for (const [lengthBytes, read] of [
          [64, () => formatSqe(set, data, byteOffset)],
          [64, () => decodeSqe(set, data, byteOffset)],
          [16, () => formatCqe(data, byteOffset)],
          [16, () => CQE.decode(data, byteOffset)],
        ] as const) {
          if (byteOffset + lengthBytes > bytes.length) expect(read).toThrow(RangeError)
          else expect(read).not.toThrow()
        }
      }),
      { numRuns: 2000 },
    )
  })
})

describe('declarations', () => {
  it('have unique names, opcodes within a set, and feature identifiers', () => {
    const names = structures.map(({ name }) => name)
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([])
    const opcodes = allCommands.map(({ set, opcode }) => `${set} ${opcode}`)
    expect(opcodes.filter((key, i) => opcodes.indexOf(key) !== i)).toEqual([])
    const fids = allFeatures.map(({ fid }) => fid)
    expect(fids.filter((fid, i) => fids.indexOf(fid) !== i)).toEqual([])
  })
})
