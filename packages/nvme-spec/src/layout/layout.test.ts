import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex, unwritten } from '../../test/bytes.js'
import { bit, bits, count, wideBits } from './bits.js'
import { codes } from './codes.js'
import { adminCommand, cdw, cdwBit, cdwCount, nvmCommand } from './command.js'
import { feature } from './feature.js'
import {
  ascii,
  bytes,
  count16,
  dwordBits,
  n64,
  oneOf,
  someOf,
  u128,
  u16,
  u16Array,
  u32,
  u32Array,
  u48,
  u64,
  u64Array,
  u8,
} from './field.js'
import { structs } from './nested.js'
import { register32, register64 } from './register.js'
import { struct } from './struct.js'
import { countOf, zeroBased } from './zero-based.js'

const facts = { offset: 0, access: 'rw', doc: 'for this test', spec: 'gpunvme test' } as const
const structFacts = { bytes: 16, doc: 'for this test', spec: 'gpunvme test' } as const
const commandFacts = { opcode: 0xc1, doc: 'for this test', spec: 'gpunvme test' } as const

describe('a declaration is refused', () => {
  it('when bits overlap, by the name of the later one', () => {
    expect(() => register32('R', facts, { A: bits(7, 4, 'a'), B: bits(4, 0, 'b') })).toThrow(
      new RangeError('R.B: bits 4:0 overlap another row'),
    )
  })

  it('when bits leave the word', () => {
    expect(() => register32('R', facts, { A: bits(32, 30, 'a') })).toThrow(
      new RangeError('R.A: bit 32 is outside 32 bits'),
    )
    expect(() => register64('R', facts, { A: wideBits(64, 12, 'a') })).toThrow(RangeError)
    expect(() => register32('R', facts, { A: bit(-1, 'a') })).toThrow(RangeError)
    expect(() => struct('S', structFacts, { A: u8(0, 'a', { B: bit(8, 'b') }) })).toThrow(
      'S.A.B: bit 8 is outside 8 bits',
    )
    expect(() => struct('S', structFacts, { A: u16(0, 'a', { B: bits(16, 15, 'b') }) })).toThrow('outside 16 bits')
  })

  it('when bits are written least significant first, or more than the kind of row holds', () => {
    expect(() => bits(0, 7, 'a')).toThrow(RangeError)
    expect(() => bits(32, 0, 'a')).toThrow(RangeError)
    expect(() => wideBits(31, 0, 'a')).toThrow(RangeError)
    expect(() => count(40, 0, 'a')).toThrow(RangeError)
  })

  it('when fields overlap', () => {
    expect(() => struct('S', structFacts, { A: u32(0, 'a'), B: u8(3, 'b') })).toThrow(
      new RangeError('S.B: overlaps another row at byte 3'),
    )
    expect(() => nvmCommand('C', commandFacts, { A: cdw(12, 16, 0, 'a'), B: cdw(12, 31, 16, 'b') })).toThrow('C.B')
    expect(() => adminCommand('C', commandFacts, { A: cdw(1, 31, 0, 'a') })).toThrow(
      'C.A: overlaps another row at byte 4',
    )
  })

  it('when a field leaves the structure', () => {
    expect(() => struct('S', structFacts, { A: u32(14, 'a') })).toThrow(
      new RangeError('S.A: bytes 17:14 are outside 16 bytes'),
    )
    expect(() => struct('S', structFacts, { A: u32(-4, 'a') })).toThrow(RangeError)
    expect(() => nvmCommand('C', commandFacts, { A: cdw(16, 7, 0, 'a') })).toThrow(
      'C.A: bytes 67:64 are outside 64 bytes',
    )
  })

  it('when bits leave their Command Dword', () => {
    expect(() => cdwBit(10, 32, 'a')).toThrow(new RangeError('bits 32:32 (a): outside a dword'))
    expect(() => cdw(10, 35, 30, 'a')).toThrow(RangeError)
    expect(() => cdwCount(10, 32, 17, 'a')).toThrow(RangeError)
  })
})

describe('a structure', () => {
  const fields = {
    A: u8(0, 'a'),
    B: u16(1, 'b'),
    C: u32(3, 'c'),
    D: n64(8, 'd'),
    E: u64(16, 'e'),
    F: u128(24, 'f'),
    G: u32(40, 'g', { LOW: bits(15, 0, 'low'), TOP: bit(31, 'top') }),
  } as const
  const S = struct('S', { ...structFacts, bytes: 48 }, fields)
  const values = fc.record(
    {
      A: fc.integer({ min: 0, max: 0xff }),
      B: fc.integer({ min: 0, max: 0xffff }),
      C: fc.integer({ min: 0, max: 0xffff_ffff }),
      D: fc.maxSafeNat(),
      E: fc.bigInt(0n, (1n << 64n) - 1n),
      F: fc.bigInt(0n, (1n << 128n) - 1n),
      G: fc.integer({ min: 0, max: 0xffff_ffff }),
    },
    { requiredKeys: [] },
  )

  it('is little endian, field for field', () => {
    const s = S.create({ A: 0x01, B: 0x0203, C: 0x0405_0607, D: 0x08_090a_0b0c_0d0e, E: 0x1011_1213_1415_1617n })
    expect(toHex(s.data, 0, 24)).toBe('01 03 02 07 06 05 04 00 0e 0d 0c 0b 0a 09 08 00 17 16 15 14 13 12 11 10')
  })

  it('gives back what was written, and the same bytes at every address', () => {
    fc.assert(
      fc.property(values, fc.nat(15), fc.nat(2), (written, byteOffset, index) => {
        const data = new DataView(new ArrayBuffer(200))
        const view = S.view(data, byteOffset).at(index)
        Object.assign(view, written)
        expect(view).toMatchObject(written)
        expect(toHex(data, byteOffset + index * 48, 48)).toBe(toHex(S.create(written).data))
      }),
    )
  })

  it('lies where the view of its memory says, when that memory is a part of a buffer', () => {
    const buffer = new ArrayBuffer(256)
    const data = new DataView(buffer, 96, 96)
    S.view(data).at(1).D = 0x0102_0304_0506
    expect(new DataView(buffer).getUint32(96 + 48 + 8, true)).toBe(0x0304_0506)
    expect(new DataView(buffer).getUint32(96 + 48 + 12, true)).toBe(0x0102)
  })

  it('is refused where the memory ends before it, by at() as well', () => {
    const data = unwritten(100)
    expect(() => S.view(data, 53)).toThrow('S needs 48 bytes at offset 53, the view has 100 (gpunvme test)')
    expect(() => S.view(data, -1)).toThrow(RangeError)
    expect(() => S.view(data).at(2)).toThrow(
      new RangeError('S needs 48 bytes at offset 96, the view has 100 (gpunvme test)'),
    )
    expect(() => S.view(data, 4).at(2)).toThrow(RangeError)
    expect(() => S.view(data).at(-1)).toThrow(RangeError)
    expect(() => S.view(data).at(Number.NaN)).toThrow(RangeError)
    expect(() => S.view(data, 4).at(1)).not.toThrow()
  })

  it('names the fields it has when asked for another', () => {
    expect(() => S.create({ Z: 1 } as never)).toThrow(new TypeError('S has no field Z; its fields: A B C D E F G'))
  })

  it('prints bits of a word by name, and the bits that no row declares', () => {
    expect(S.describe(S.create({ A: 1, D: 0x1000, G: 0x8001_0002 }).data)).toEqual([
      'A=1',
      'D=0x1000',
      'G={ LOW=2 TOP=1 reserved=0x10000 }',
    ])
  })

  it('writes to memory that was detached throw, whatever the alignment', () => {
    const command = nvmCommand('C', commandFacts, {})
    const data = new DataView(new ArrayBuffer(64))
    const view = command.view(data)
    structuredClone(data.buffer, { transfer: [data.buffer] })
    expect(() => view.begin(1)).toThrow(TypeError)
  })
})

describe('arrays and strings', () => {
  const S = struct('S', structFacts, {
    TEXT: ascii(0, 4, 'text'),
    ID: bytes(4, 4, 'id'),
    WORDS: u32Array(8, 2, 'words'),
  })

  it('take exactly their length', () => {
    const s = S.create({ TEXT: 'ab', ID: Uint8Array.of(1, 2, 3, 4), WORDS: Uint32Array.of(5, 0xffff_ffff) })
    expect(toHex(s.data)).toBe('61 62 20 20 01 02 03 04 05 00 00 00 ff ff ff ff')
    expect(() => (s.WORDS = Uint32Array.of(1))).toThrow(
      'S.WORDS (words): expected 2 words (Uint32Array), got 1 words (gpunvme test)',
    )
    expect(S.describe(s.data)).toEqual(['TEXT="ab"', 'ID=01020304', 'WORDS=0x5,0xffffffff'])
  })
})

describe('bits of a Command Dword', () => {
  it('that fill it with named values read as an unsigned number', () => {
    const C = nvmCommand('C', commandFacts, { ALL: cdw(10, 31, 0, 'all', { TOP: 0x8000_0000, NONE: 0 }) })
    const view = C.view(new DataView(new ArrayBuffer(64)))
    view.ALL = C.ALL.TOP
    expect(view.ALL).toBe(2_147_483_648)
  })
})

describe("0's based values", () => {
  it('hold one less than the count they stand for', () => {
    expect(zeroBased(1)).toBe(0)
    expect(zeroBased(65_536)).toBe(65_535)
    expect(countOf(zeroBased(256))).toBe(256)
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 53])('do not stand for a count of %d', (value) => {
    expect(() => zeroBased(value)).toThrow(`a 0's based field holds a count of at least 1, got ${value}`)
  })
})

describe('decode and encode', () => {
  const Inner = struct(
    'Inner',
    { ...structFacts, bytes: 4 },
    { LOW: u16(0, 'low'), KIND: oneOf(u8(2, 'kind'), { A: 1 }) },
  )
  const S = struct(
    'S',
    { ...structFacts, bytes: 64 },
    {
      FLAGS: u8(0, 'flags', { ON: bit(0, 'on'), MODE: bits(3, 1, 'mode') }),
      KIND: someOf(u8(1, 'kind'), { ONE: 1 }),
      SIZE: count16(2, 'size'),
      PART: dwordBits(4, bits(9, 4, 'part')),
      ADDRESS: n64(8, 'address'),
      WIDE: u48(16, 'wide'),
      BIG: u64(24, 'big'),
      INNER: structs(32, 3, Inner, 'inner'),
      WORDS: u32Array(44, 2, 'words', { TOP: bit(31, 'top') }),
      HALVES: u16Array(52, 2, 'halves'),
      LONGS: u64Array(56, 1, 'longs'),
    },
  )
  const random = fc.uint8Array({ minLength: 64, maxLength: 64 }).map((bytes) => {
    for (const at of [34, 38, 42]) bytes[at] = 1
    return new DataView(bytes.slice().buffer)
  })

  it('keep every bit of any memory, declared or not', () => {
    fc.assert(
      fc.property(random, fc.nat(8), (data, byteOffset) => {
        const copy = unwritten(80)
        S.encode(copy, byteOffset, S.decode(data))
        expect(toHex(copy, byteOffset, 64)).toBe(toHex(data))
        expect(toHex(copy, 0, byteOffset) + toHex(copy, byteOffset + 64)).toMatch(/^[a5 ]+$/)
      }),
    )
  })

  it('give words with rows as objects, nested structures as arrays, and what no row declares as reserved', () => {
    const s = S.create({
      FLAGS: { ON: 1, MODE: 5, reserved: 0x80 },
      INNER: [{ LOW: 7 }, { KIND: 1 }],
      WORDS: [{ TOP: 1 }, {}],
      reserved: [{ offset: 4, bytes: Uint8Array.of(0x0f, 0xfc) }],
    })
    s.INNER.at(2).LOW = 9
    expect(toHex(s.data, 0, 8)).toBe('8b 00 00 00 0f fc 00 00')
    expect(S.decode(s.data)).toMatchObject({
      FLAGS: { ON: 1, MODE: 5, reserved: 0x80 },
      INNER: [
        { LOW: 7, KIND: 0 },
        { LOW: 0, KIND: 1 },
        { LOW: 9, KIND: 0 },
      ],
      WORDS: [{ TOP: 1 }, { TOP: 0 }],
      reserved: [{ offset: 4, bytes: Uint8Array.of(0x0f, 0xfc) }],
    })
    expect(S.describe(s.data)).toEqual([
      'FLAGS={ ON=1 MODE=5 reserved=0x80 }',
      'INNER[0]={ LOW=7 }',
      'INNER[1]={ KIND=A }',
      'INNER[2]={ LOW=9 }',
      'WORDS[0]={ TOP=1 }',
      'reserved[4]=0ffc',
    ])
  })

  it('keep a 64-bit value that a number cannot hold, as a bigint', () => {
    const data = new DataView(new ArrayBuffer(64))
    data.setBigUint64(8, 0xffff_ffff_ffff_fffen, true)
    expect(S.decode(data).ADDRESS).toBe(0xffff_ffff_ffff_fffen)
    data.setBigUint64(8, 0x1f_ffff_ffff_ffffn, true)
    expect(S.decode(data).ADDRESS).toBe(0x1f_ffff_ffff_ffff)
  })

  it('refuse a bad value by name, with what is expected, what was given and the source; nothing is written', () => {
    const data = unwritten(64)
    const cases: [object, ErrorConstructor, string][] = [
      [{ KIND: '1' }, TypeError, 'S.KIND (kind): expected an integer from 0 to 255, got "1" (gpunvme test)'],
      [{ KIND: 1, SIZE: 65_536 }, RangeError, "S.SIZE (size): expected a 0's based value from 0 to 65535"],
      [
        { FLAGS: { MODE: 8 } },
        RangeError,
        'S.FLAGS.MODE (mode): expected an integer from 0 to 7, got 8 (gpunvme test)',
      ],
      [{ FLAGS: { OFF: 1 } }, TypeError, 'S.FLAGS has no field OFF; its fields: ON MODE'],
      [{ FLAGS: { reserved: 1 } }, RangeError, 'S.FLAGS.reserved (bits that no row declares): expected bits of 0xf0'],
      [{ BIG: 5 }, TypeError, 'S.BIG (big): expected a bigint from 0 to 2^64 - 1, got 5 (gpunvme test)'],
      [{ BIG: -1n }, RangeError, 'S.BIG (big): expected a bigint from 0 to 2^64 - 1, got -1n'],
      [{ WIDE: 2 ** 48 }, RangeError, 'S.WIDE (wide): expected an integer from 0 to 281474976710655'],
      [{ INNER: [{}, {}, {}, {}] }, RangeError, 'S.INNER (inner): expected at most 3 structures, got 4'],
      [{ INNER: [{ KIND: 2 }] }, RangeError, 'Inner.KIND (kind): expected 1 (A), got 2 (gpunvme test)'],
      [{ HALVES: [1, 2] }, TypeError, 'S.HALVES (halves): expected 2 words (Uint16Array)'],
      [{ LONGS: new BigUint64Array(2) }, RangeError, 'S.LONGS (longs): expected 1 words (BigUint64Array), got 2 words'],
      [{ reserved: [{ offset: 0, bytes: Uint8Array.of(1) }] }, RangeError, 'expected no bits of a declared row'],
      [{ reserved: [{ offset: 63, bytes: Uint8Array.of(0, 0) }] }, RangeError, 'expected bytes inside the 64'],
      [{ reserved: 1 }, TypeError, 'S.reserved (bits that no row declares): expected an array'],
    ]
    for (const [values, kind, message] of cases) {
      const encode = () => {
        S.encode(data, 0, values)
      }
      expect(encode, message).toThrow(kind)
      expect(encode).toThrow(message)
    }
    expect(toHex(data)).toMatch(/^[a5 ]+$/)
    expect(() => S.decode(new DataView(new ArrayBuffer(63)))).toThrow('S needs 64 bytes at offset 0, the view has 63')
    expect(() => S.decode(new Uint8Array(64) as never)).toThrow(
      new TypeError('S: expected a DataView, got object (gpunvme test)'),
    )
    expect(() => S.describe(data, 0.5)).toThrow(RangeError)
  })
})

describe('a feature', () => {
  it('has a word for each dword with rows, and Dword 0 of the completion like Command Dword 11', () => {
    const F = feature(
      'F',
      { fid: 0xc0, doc: 'for this test', spec: 'gpunvme test' },
      { CDW11: { LEVEL: bits(7, 4, 'l') } },
    )
    expect(F.CDW11.encode({ LEVEL: 3 })).toBe(0x30)
    expect(F.DW0.decode(0xff0f_0f51)).toEqual({ LEVEL: 5, reserved: 0xff0f_0f01 })
    expect(F.DW0.encode(F.DW0.decode(0xff0f_0f51))).toBe(0xff0f_0f51)
    expect(F.CDW11.format(0x31)).toBe('F.CDW11=0x00000031 { LEVEL=3 reserved=0x1 }')
    expect(() => F.CDW11.decode(2 ** 32)).toThrow(
      new RangeError('F.CDW11: expected 32 bits as a number, got 4294967296 (gpunvme test)'),
    )
    expect(() => F.CDW11.decode(5n as never)).toThrow(TypeError)
  })
})

describe('a table of numbers', () => {
  it('gives a name for a number, or the number in hexadecimal', () => {
    const T = codes('T', { doc: 'for this test', spec: 'gpunvme test' }, { FIRST: 1 })
    expect([T.FIRST, T.nameOf(1), T.nameOf(0xc2)]).toEqual([1, 'FIRST', '0xc2'])
  })
})
