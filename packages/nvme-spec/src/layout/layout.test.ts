import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex, unwritten } from '../../test/bytes.js'
import {
  adminCommand,
  ascii,
  bit,
  bits,
  bytes,
  cdw,
  cdwBit,
  cdwCount,
  codes,
  count,
  count16,
  countOf,
  dwordBits,
  feature,
  n64,
  nvmCommand,
  oneOf,
  register32,
  register64,
  someOf,
  struct,
  structs,
  u128,
  u16,
  u16Array,
  u32,
  u32Array,
  u48,
  u64,
  u64Array,
  u8,
  wideBits,
  zeroBased,
  type Bits,
  type Field,
  type Memory,
} from './index.js'

const facts = { offset: 0, access: 'rw', doc: 'for this test', spec: 'gpunvme test' } as const
const structFacts = { bytes: 16, doc: 'for this test', spec: 'gpunvme test' } as const
const commandFacts = { opcode: 0xc1, doc: 'for this test', spec: 'gpunvme test' } as const

describe('rejects a declaration', () => {
  it('whose bits overlap, with the name of the later row', () => {
    expect(() => register32('R', facts, { A: bits(7, 4, 'a'), B: bits(4, 0, 'b') })).toThrow(
      new RangeError('R.B: bits 4:0 overlap another row'),
    )
  })

  it('whose bits exceed the word', () => {
    expect(() => register32('R', facts, { A: bits(32, 30, 'a') })).toThrow(
      new RangeError('R.A: bits 32:30 do not fit 32 bits'),
    )
    expect(() => register64('R', facts, { A: wideBits(64, 12, 'a') })).toThrow(RangeError)
    expect(() => register32('R', facts, { A: bit(-1, 'a') })).toThrow(RangeError)
    expect(() => struct('S', structFacts, { A: u8(0, 'a', { B: bit(8, 'b') }) })).toThrow(
      'S.A.B: bits 8:8 do not fit 8 bits',
    )
    expect(() => struct('S', structFacts, { A: u16(0, 'a', { B: bits(16, 15, 'b') }) })).toThrow(
      'S.A.B: bits 16:15 do not fit 16 bits',
    )
  })

  it('whose bits are in reverse order, or do not match the kind of row', () => {
    const declared = (row: Bits<number> | Bits<bigint>) => () => register64('R', facts, { A: row })
    expect(declared(bits(0, 7, 'a'))).toThrow(new RangeError('R.A: bits 0:7 do not fit 64 bits'))
    expect(declared(bits(32, 0, 'a'))).toThrow(new RangeError('R.A: bits 32:0 need wideBits()'))
    expect(declared(count(40, 0, 'a'))).toThrow('need wideBits()')
    expect(declared(wideBits(31, 0, 'a'))).toThrow(new RangeError('R.A: bits 31:0 need bits()'))
  })

  it('whose fields overlap', () => {
    expect(() => struct('S', structFacts, { A: u32(0, 'a'), B: u8(3, 'b') })).toThrow(
      new RangeError('S.B: bits 7:0 of byte 3 overlap another row'),
    )
    expect(() => nvmCommand('C', commandFacts, { A: cdw(12, 16, 0, 'a'), B: cdw(12, 31, 16, 'b') })).toThrow('C.B')
    expect(() => adminCommand('C', commandFacts, { A: cdw(1, 31, 0, 'a') })).toThrow(
      'C.A: bits 31:0 of byte 4 overlap another row',
    )
  })

  it('whose rows or fields overlap and are not in ascending order', () => {
    expect(() => struct('S', structFacts, { A: u32(8, 'a'), B: u16(0, 'b'), C: u8(11, 'c') })).toThrow(
      new RangeError('S.C: bits 7:0 of byte 11 overlap another row'),
    )
    expect(() =>
      struct('S', structFacts, { A: dwordBits(4, bits(31, 9, 'a')), B: u8(0, 'b'), C: dwordBits(4, bits(9, 4, 'c')) }),
    ).toThrow(new RangeError('S.C: bits 9:4 of byte 4 overlap another row'))
    expect(() => register64('R', facts, { A: wideBits(63, 12, 'a'), B: bits(3, 0, 'b'), C: bits(12, 4, 'c') })).toThrow(
      new RangeError('R.C: bits 12:4 overlap another row'),
    )
    const S = struct('S', structFacts, {
      A: u32(8, 'a'),
      B: dwordBits(0, bits(9, 4, 'b')),
      C: dwordBits(0, bit(3, 'c')),
    })
    expect(toHex(S.create({ A: 1, B: 0x3f, C: 1 }).data)).toBe('f8 03 00 00 00 00 00 00 01 00 00 00 00 00 00 00')
  })

  it('with a field that exceeds the structure', () => {
    expect(() => struct('S', structFacts, { A: u32(14, 'a') })).toThrow(
      new RangeError('S.A: bits 31:0 of byte 14 do not fit 128 bits'),
    )
    expect(() => struct('S', structFacts, { A: u32(-4, 'a') })).toThrow(RangeError)
    expect(() => nvmCommand('C', commandFacts, { A: cdw(16, 7, 0, 'a') })).toThrow(
      'C.A: bits 7:0 of byte 64 do not fit 512 bits',
    )
  })

  it('whose bits exceed their Command Dword', () => {
    const declared = (row: Field<number>) => () => nvmCommand('C', commandFacts, { A: row })
    expect(declared(cdwBit(10, 32, 'a'))).toThrow(new RangeError('C.A: bits 32:32 of byte 40 do not fit 512 bits'))
    expect(declared(cdw(10, 35, 30, 'a'))).toThrow(RangeError)
    expect(declared(cdwCount(10, 32, 17, 'a') as Field<never>)).toThrow(RangeError)
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

  it('stores each field in little endian', () => {
    const s = S.create({ A: 0x01, B: 0x0203, C: 0x0405_0607, D: 0x08_090a_0b0c_0d0e, E: 0x1011_1213_1415_1617n })
    expect(toHex(s.data, 0, 24)).toBe('01 03 02 07 06 05 04 00 0e 0d 0c 0b 0a 09 08 00 17 16 15 14 13 12 11 10')
  })

  it('reads the values written, and stores the same bytes at every address', () => {
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

  it('honors the byteOffset of a DataView', () => {
    const buffer = new ArrayBuffer(256)
    const data = new DataView(buffer, 96, 96)
    S.view(data).at(1).D = 0x0102_0304_0506
    expect(new DataView(buffer).getUint32(96 + 48 + 8, true)).toBe(0x0304_0506)
    expect(new DataView(buffer).getUint32(96 + 48 + 12, true)).toBe(0x0102)
  })

  it('rejects memory that is too short, also in at()', () => {
    const data = unwritten(100)
    expect(() => S.view(data, 53)).toThrow('S needs 48 bytes at offset 53, got 100 (gpunvme test)')
    expect(() => S.view(data, -1)).toThrow(RangeError)
    expect(() => S.view(data).at(2)).toThrow(
      new RangeError('S (index): expected an integer from 0 to 1, got 2 (gpunvme test)'),
    )
    expect(() => S.view(data, 4).at(2)).toThrow(RangeError)
    expect(() => S.view(data).at(-1)).toThrow(RangeError)
    expect(() => S.view(data).at(Number.NaN)).toThrow(RangeError)
    expect(() => S.view(data, 4).at(1)).not.toThrow()
  })

  it('rejects an unknown field, and lists its own', () => {
    expect(() => S.create({ Z: 1 } as never)).toThrow(
      new TypeError('S has no field Z; its fields: A B C D E F G (gpunvme test)'),
    )
  })

  it('describes bits of a word by name, and undeclared bits as reserved', () => {
    expect(S.describe(S.create({ A: 1, D: 0x1000, G: 0x8001_0002 }).data)).toEqual([
      'A=1',
      'D=0x1000',
      'G={ LOW=2 TOP=1 reserved=0x10000 }',
    ])
  })

  it('has a frozen property for each field and row, with a stable identity', () => {
    const R = register32('R', facts, { LOW: bits(3, 0, 'low', { ON: 1 }) })
    expect(Object.keys(S)).toEqual(expect.arrayContaining(Object.keys(fields)))
    expect(S.G).toBe(S.G)
    expect(R.LOW).toBe(R.LOW)
    expect(S.G).toMatchObject({ offset: 40, lengthBytes: 4, doc: 'g', LOW: { name: 'LOW', msb: 15, lsb: 0 } })
    expect(R.LOW).toMatchObject({ name: 'LOW', msb: 3, lsb: 0, doc: 'low', values: { ON: 1 }, ON: 1 })
    expect([S.G.TOP.of(0x8000_0000), R.LOW.nameOf(1)]).toEqual([1, 'ON'])
    for (const declared of [S, S.G, S.G.LOW, R, R.LOW]) expect(Object.isFrozen(declared)).toBe(true)
    expect(() => ((R as { LOW: unknown }).LOW = 1)).toThrow(TypeError)
  })

  it('throws on a write to detached memory', () => {
    const command = nvmCommand('C', commandFacts, {})
    const data = new DataView(new ArrayBuffer(64))
    const view = command.view(data)
    structuredClone(data.buffer, { transfer: [data.buffer] })
    expect(() => view.begin(1)).toThrow(TypeError)
  })
})

describe('arrays, bytes and strings', () => {
  const S = struct('S', structFacts, {
    TEXT: ascii(0, 4, 'text'),
    ID: bytes(4, 4, 'id'),
    WORDS: u32Array(8, 2, 'words'),
  })

  it('are padded if they are strings, and otherwise require their exact length', () => {
    const s = S.create({ TEXT: 'ab', ID: Uint8Array.of(1, 2, 3, 4), WORDS: Uint32Array.of(5, 0xffff_ffff) })
    expect(toHex(s.data)).toBe('61 62 20 20 01 02 03 04 05 00 00 00 ff ff ff ff')
    expect(() => (s.WORDS = Uint32Array.of(1))).toThrow(
      'S.WORDS (words): expected 2 words (Uint32Array), got 1 words (gpunvme test)',
    )
    expect(S.describe(s.data)).toEqual(['TEXT="ab"', 'ID=01020304', 'WORDS=0x5,0xffffffff'])
  })
})

describe('bits of a Command Dword', () => {
  it('that fill it and have named values are an unsigned number', () => {
    const C = nvmCommand('C', commandFacts, { ALL: cdw(10, 31, 0, 'all', { TOP: 0x8000_0000, NONE: 0 }) })
    const view = C.view(new DataView(new ArrayBuffer(64)))
    view.ALL = C.ALL.TOP
    expect(view.ALL).toBe(2_147_483_648)
  })
})

describe("0's based values", () => {
  it('are one less than their count', () => {
    expect(zeroBased(1)).toBe(0)
    expect(zeroBased(65_536)).toBe(65_535)
    expect(countOf(zeroBased(256))).toBe(256)
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity, 2 ** 53])('do not exist for a count of %d', (value) => {
    expect(() => zeroBased(value)).toThrow(`expected a count of at least 1, got ${value}`)
  })

  it.each([-1, 0.5, Number.NaN, 2 ** 53])('cannot be %d', (value) => {
    expect(() => countOf(value as never)).toThrow(
      new RangeError(`0's based value: expected an integer from 0 to 9007199254740991, got ${value}`),
    )
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

  it('keep every bit of any memory, including undeclared bits', () => {
    fc.assert(
      fc.property(random, fc.nat(8), (data, byteOffset) => {
        const copy = unwritten(80)
        S.encode(copy, byteOffset, S.decode(data))
        expect(toHex(copy, byteOffset, 64)).toBe(toHex(data))
        expect(toHex(copy, 0, byteOffset) + toHex(copy, byteOffset + 64)).toMatch(/^[a5 ]+$/)
      }),
    )
  })

  it('represent words with rows as objects, nested structures as arrays, and undeclared bits as reserved', () => {
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

  it('represent a 64-bit value beyond the safe integers as a bigint', () => {
    const data = new DataView(new ArrayBuffer(64))
    data.setBigUint64(8, 0xffff_ffff_ffff_fffen, true)
    expect(S.decode(data).ADDRESS).toBe(0xffff_ffff_ffff_fffen)
    data.setBigUint64(8, 0x1f_ffff_ffff_ffffn, true)
    expect(S.decode(data).ADDRESS).toBe(0x1f_ffff_ffff_ffff)
  })

  it('reject an invalid value with its name, the expected range, the value and the source, and write nothing', () => {
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
      [{ INNER: [{ KIND: 2 }] }, RangeError, 'S.INNER[0].KIND (kind): expected 1 (A), got 2 (gpunvme test)'],
      [{ HALVES: [1, 2] }, TypeError, 'S.HALVES (halves): expected 2 words (Uint16Array)'],
      [{ LONGS: new BigUint64Array(2) }, RangeError, 'S.LONGS (longs): expected 1 words (BigUint64Array), got 2 words'],
      [{ reserved: [{ offset: 0, bytes: Uint8Array.of(1) }] }, RangeError, 'expected only bits that no row declares'],
      [
        { reserved: [{ offset: 63, bytes: Uint8Array.of(0, 0) }] },
        RangeError,
        'expected an offset and bytes within the 64',
      ],
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
    expect(() => S.decode(new DataView(new ArrayBuffer(63)))).toThrow('S needs 64 bytes at offset 0, got 63')
    expect(() => S.decode([] as never)).toThrow(
      new TypeError('S (memory): expected a DataView, Uint8Array or ArrayBuffer, got [object Array] (gpunvme test)'),
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
      new RangeError('F.CDW11 (for this test): expected 32 bits as a number, got 4294967296 (gpunvme test)'),
    )
    expect(() => F.CDW11.decode(5n as never)).toThrow(TypeError)
  })
})

describe('a table of numbers', () => {
  it('returns the name of a number, or the number in hexadecimal if it has none', () => {
    const T = codes('T', { doc: 'for this test', spec: 'gpunvme test' }, { FIRST: 1 })
    expect([T.FIRST, T.nameOf(1), T.nameOf(0xc2)]).toEqual([1, 'FIRST', '0xc2'])
  })
})

describe('misuse', () => {
  const read = () =>
    nvmCommand('C', commandFacts, { N: cdwCount(12, 15, 0, 'n'), A: n64(40, 'a'), D: cdw(13, 31, 0, 'd') })
  const S = struct('S', structFacts, {
    WORDS: u32Array(0, 2, 'words', { TOP: bit(31, 'top') }),
    TEXT: ascii(8, 4, 'text', 0),
  })
  const data = new DataView(new ArrayBuffer(64))
  const encode = (values: unknown) => () => {
    read().encode(data, 0, values as never)
  }

  it.each([
    [
      { N: 1n },
      "C.N (n): expected a 0's based value from 0 to 65535, zeroBased(count) of 1 to 65536, got 1n (gpunvme test)",
    ],
    [{ A: 1n }, 'C.A (a): expected an integer from 0 to 2^53 - 1, got 1n (gpunvme test)'],
    [{ D: '1' }, 'C.D (d): expected an integer from 0 to 4294967295, got "1" (gpunvme test)'],
    [{ D: Symbol('x') }, 'C.D (d): expected an integer from 0 to 4294967295, got Symbol(x) (gpunvme test)'],
    [
      { D: Object.create(null) as object },
      'C.D (d): expected an integer from 0 to 4294967295, got [object Object] (gpunvme test)',
    ],
    [
      { CID: undefined },
      'C.CID (Command Identifier): expected an integer from 0 to 65535, got undefined (gpunvme test)',
    ],
    [{ CID: 1n }, 'C.CID (Command Identifier): expected an integer from 0 to 65535, got 1n (gpunvme test)'],
    [{ OPC: 1 }, 'C has no field OPC; its fields: FUSE PSDT CID NSID MPTR PRP1 PRP2 N A D (gpunvme test)'],
    [JSON.parse('{"__proto__": 1}') as object, 'C has no field __proto__; its fields: '],
    [undefined, 'C (fields): expected an object of fields, got undefined (gpunvme test)'],
    [5, 'C (fields): expected an object of fields, got 5 (gpunvme test)'],
  ])('rejects fields %o for a command', (values, message) => {
    expect(encode(values)).toThrow(TypeError)
    expect(encode(values)).toThrow(message)
    expect(toHex(data)).toMatch(/^[0 ]+$/)
  })

  it('rejects a cursor index or offset that is not an integer', () => {
    const queue = new DataView(new ArrayBuffer(256))
    for (const index of [1.25, 0.1, -1, 4]) expect(() => read().view(queue).at(index)).toThrow(RangeError)
    for (const index of ['1', 1n, null, undefined, Symbol('x')])
      expect(() =>
        read()
          .view(queue)
          .at(index as never),
      ).toThrow('C (index): expected an integer from 0 to 3, got ')
    expect(() => read().view(queue, '0' as never)).toThrow(
      new TypeError('C needs 64 bytes at offset "0", got 256 (gpunvme test)'),
    )
    expect(() => S.view({} as never)).toThrow('S (memory): expected a DataView, ')
  })

  it.each([
    [[2 ** 32 + 5, 0], RangeError, 'S.WORDS[0] (words): expected an integer from 0 to 4294967295, got 4294967301'],
    [[0, 1.7], RangeError, 'S.WORDS[1] (words): expected an integer'],
    [[0, -1], RangeError, 'S.WORDS[1] (words): expected an integer'],
    [['x', 0], TypeError, 'S.WORDS[0] (words): expected an integer from 0 to 4294967295, got "x" (gpunvme test)'],
    [
      [null, 0],
      TypeError,
      'S.WORDS[0] (words): expected an integer from 0 to 4294967295, got [object Null] (gpunvme test)',
    ],
    [[10n, 0], TypeError, 'S.WORDS[0] (words): expected an integer from 0 to 4294967295, got 10n (gpunvme test)'],
    [[{ TOP: 2 }, 0], RangeError, 'S.WORDS[0].TOP (top): expected an integer from 0 to 1, got 2 (gpunvme test)'],
  ])('rejects elements %o of an array of words', (words, kind, message) => {
    expect(() => S.create({ WORDS: words as never })).toThrow(kind)
    expect(() => S.create({ WORDS: words as never })).toThrow(message)
  })

  it.each([[new Map([['TEXT', 'x']])], [[]], [new DataView(new ArrayBuffer(8))], [new Date(0)], [null]])(
    'rejects %o in place of an object of fields, instead of storing zeroes',
    (values) => {
      const kept = unwritten(64)
      expect(() => S.encode(kept, 0, values as never)).toThrow('S (fields): expected an object of fields, got [object ')
      expect(() => read().encode(kept, 0, values as never)).toThrow(TypeError)
      expect(() => S.create({ WORDS: [values as never, {}] })).toThrow(TypeError)
      expect(() => register32('R', facts, { A: bit(0, 'a') }).encode(values as never)).toThrow(TypeError)
      expect(toHex(kept)).toMatch(/^[a5 ]+$/)
    },
  )

  it('rejects reserved bytes of the wrong type, or that overlap a text', () => {
    expect(() => S.create({ reserved: [{ offset: 12, bytes: [1] as never }] })).toThrow(
      new TypeError(
        'S.reserved (bits that no row declares): expected bytes (Uint8Array), got [object Array] (gpunvme test)',
      ),
    )
    expect(() => S.create({ reserved: [{ offset: '12' as never, bytes: Uint8Array.of(1) }] })).toThrow(TypeError)
    expect(() => S.create({ reserved: [5 as never] })).toThrow(TypeError)
    expect(() => S.create({ TEXT: 'a', reserved: [{ offset: 9, bytes: Uint8Array.of(0x62) }] })).toThrow(
      'expected only bits that no row declares',
    )
  })

  it('rejects an invalid raw word for a row', () => {
    const R = register64('R', { ...facts }, { A: bits(35, 32, 'a') })
    for (const raw of ['abc', undefined, 1.5])
      expect(() => R.A.of(raw as never)).toThrow('expected a raw word as a number or a bigint, got ')
  })

  it('accepts memory as a DataView, a typed array or a buffer, also from another realm', () => {
    const bytes = new Uint8Array(24).fill(0x61, 12, 15)
    for (const memory of [new DataView(bytes.buffer, 4), bytes.subarray(4), Buffer.from(bytes.buffer, 4)])
      expect(S.decode(memory)).toMatchObject({ TEXT: 'aaa' })
    for (const memory of [bytes.buffer, new Uint32Array(bytes.buffer)])
      expect(S.decode(memory, 4)).toMatchObject({ TEXT: 'aaa' })
    expect(S.decode(new SharedArrayBuffer(16))).toMatchObject({ TEXT: '' })
    for (const of of ['new DataView(new ArrayBuffer(16))', 'new Uint8Array(16)', 'new ArrayBuffer(16)'])
      expect(S.decode(runInNewContext(of) as Memory)).toMatchObject({ TEXT: '' })
    S.encode(bytes.subarray(8), 0, { TEXT: 'b' })
    expect(bytes[16]).toBe(0x62)
  })

  it('shows and keeps bytes after the NUL that ends a text', () => {
    const dump = new DataView(Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0, 0x61, 0, 0x78, 0, 0, 0, 0, 0).buffer)
    const decoded = S.decode(dump)
    expect(decoded).toMatchObject({ TEXT: 'a', reserved: [{ offset: 10, bytes: Uint8Array.of(0x78) }] })
    expect(S.describe(dump)).toEqual(['TEXT="a"', 'reserved[10]=78'])
    const copy = unwritten(16)
    S.encode(copy, 0, decoded)
    expect(toHex(copy)).toBe(toHex(dump))
  })

  it('rejects unknown values of an enumeration, unless allowReserved is set', () => {
    const E = struct('E', structFacts, {
      KIND: oneOf(u16(1, 'kind'), { A: 1 }),
      PART: dwordBits(4, bits(13, 6, 'part', { ON: 1 })),
      WORD: u8(9, 'word', { MODE: bits(3, 2, 'mode', { ON: 1 }) }),
    })
    const dump = new DataView(Uint8Array.of(0, 7, 9, 0, 0x80, 0x15, 0, 0, 0, 0x0c, 0, 0, 0, 0, 0, 0).buffer)
    const decoded = E.decode(dump)
    expect(decoded).toMatchObject({ KIND: 0x0907, PART: 0x56, WORD: { MODE: 3 } })
    expect(() => E.encode(unwritten(16), 0, decoded)).toThrow('E.KIND (kind): expected 1 (A), got 2311 (gpunvme test)')
    const copy = unwritten(16)
    E.encode(copy, 0, decoded, { allowReserved: true })
    expect(toHex(copy)).toBe(toHex(dump))
  })

  it('rejects invalid names, values, offsets and opcodes in a declaration', () => {
    expect(() => struct('X', structFacts, { data: u8(0, 'd') })).toThrow(
      new TypeError("X.data: expected a name in upper case, got 'data'"),
    )
    expect(() => struct('X', structFacts, { A: u8(0, 'a', { reserved: bit(0, 'r') }) })).toThrow(TypeError)
    expect(() => struct('X', structFacts, { A: u8(0, 'a', { B: bits(1, 0, 'b', { BIG: 9 }) }) })).toThrow(
      new RangeError('X.A.B: BIG = 9 does not fit 2 bits'),
    )
    expect(() => struct('X', structFacts, { A: oneOf(u8(0, 'a'), { BIG: 256 }) })).toThrow(
      'X.A: BIG = 256 does not fit 8 bits',
    )
    expect(() => struct('X', structFacts, { A: u16(1.5, 'a') })).toThrow(
      'X.A: bits 15:0 of byte 1.5 do not fit 128 bits',
    )
    expect(() => struct('X', { doc: 'd', spec: 'gpunvme test' } as never, {})).toThrow(
      'X: expected a length in bytes, got undefined',
    )
    expect(() => adminCommand('X', { ...commandFacts, opcode: 0x1c5 }, {})).toThrow(
      'X: expected an opcode from 0 to 255, got 453',
    )
    expect(() => adminCommand('X', commandFacts, { A: u32(40, 'a', { R: bits(8, 0, 'r'), Q: bit(8, 'q') }) })).toThrow(
      'X.A.Q: bits 8:8 overlap another row',
    )
  })

  it('rejects values that are not a word, or not a number', () => {
    const R = register64('R', { ...facts }, { A: bits(3, 0, 'a') })
    for (const raw of ['zz', 1.5, Number.NaN, undefined, null]) {
      expect(() => R.decode(raw as never)).toThrow(TypeError)
      expect(() => R.format(raw as never)).toThrow('R (for this test): expected 64 bits as a bigint, got ')
    }
    expect(() => R.encode(null as never)).toThrow('R (fields): expected an object of fields, got [object Null]')
    expect(() => countOf('7' as never)).toThrow(
      new TypeError(`0's based value: expected an integer from 0 to 9007199254740991, got "7"`),
    )
    expect(() => zeroBased('8' as never)).toThrow(TypeError)
  })
})

it('rejects a part of a dword that exceeds its structure when it is declared, not when it is read', () => {
  const declared = () => struct('S', { bytes: 6, doc: 'a', spec: 'vendor x' }, { A: dwordBits(4, bits(15, 0, 'a')) })
  expect(declared).toThrow(new RangeError('S.A: bits 15:0 of byte 4 do not fit 48 bits'))
})
