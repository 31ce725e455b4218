import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex, unwritten } from '../../test/bytes.js'
import { bit, bits, count, wideBits } from './bits.js'
import { adminCommand, cdw, cdwBit, cdwCount, nvmCommand } from './command.js'
import { ascii, bytes, n64, u128, u16, u32, u32Array, u64, u8 } from './field.js'
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
      'C.A: bytes 64:64 are outside 64 bytes',
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
    expect(() => S.view(data).at(2)).toThrow(new RangeError('S: index 2 is outside the view of 100 bytes'))
    expect(() => S.view(data, 4).at(2)).toThrow(RangeError)
    expect(() => S.view(data).at(-1)).toThrow(RangeError)
    expect(() => S.view(data).at(Number.NaN)).toThrow(RangeError)
    expect(() => S.view(data, 4).at(1)).not.toThrow()
  })

  it('names the fields it has when asked for another', () => {
    expect(() => S.create({ Z: 1 } as never)).toThrow(new TypeError('S has no field Z; its fields: A B C D E F G'))
  })

  it('prints bits of a word by name, and the bits that no row declares', () => {
    expect(S.format(S.create({ A: 1, D: 0x1000, G: 0x8001_0002 }))).toEqual([
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
    expect(() => (s.WORDS = Uint32Array.of(1))).toThrow('S.WORDS (words): expected 2 words, got 1 words')
    expect(S.format(s)).toEqual(['TEXT="ab"', 'ID=01020304', 'WORDS=0x5,0xffffffff'])
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
