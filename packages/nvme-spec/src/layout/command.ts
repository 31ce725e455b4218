import { bits, bit, count, type Bits, type NamedValues, type None } from './bits.js'
import { dwordBits, inHex, n64, u16, u32, u8, type Field } from './field.js'
import type { SpecRef } from './spec-ref.js'
import { assignFields, declaredBits, struct, type Cursor, type FieldMap, type Struct, type Values } from './struct.js'
import type { ZeroBased } from './zero-based.js'

const ENTRY_BYTES = 64

/** The fields that every submission queue entry has, whatever its command (Base 2.1 §4.1.1, Figure 91 and 92). */
export const sqeFields = {
  OPC: u8(0, 'Opcode'),
  FUSE: dwordBits(0, bits(9, 8, 'Fused Operation', { NORMAL: 0, FIRST: 1, SECOND: 2 })),
  PSDT: dwordBits(0, bits(15, 14, 'PRP or SGL for Data Transfer', { PRP: 0, SGL: 1, SGL_SEGMENT_MPTR: 2 })),
  CID: inHex(u16(2, 'Command Identifier')),
  NSID: u32(4, 'Namespace Identifier'),
  MPTR: n64(16, 'Metadata Pointer'),
  PRP1: n64(24, 'PRP Entry 1'),
  PRP2: n64(32, 'PRP Entry 2'),
} satisfies FieldMap

type CommonFields = typeof sqeFields

/** Which way a command's data goes, as bits 1:0 of its opcode say (Base 2.1 §4.1.1). */
export type DataTransfer = 'none' | 'host-to-controller' | 'controller-to-host' | 'both'
const transfers: readonly DataTransfer[] = ['none', 'host-to-controller', 'controller-to-host', 'both']

/** A cursor over submission queue entries of one command. */
export interface CommandCursor extends Cursor {
  /** Zeroes the entry the cursor stands on, then writes the command's opcode and `cid`. */
  begin(cid: number): this
}

export interface CommandMethods<F extends FieldMap> {
  readonly opcode: number
  readonly set: 'admin' | 'nvm'
  readonly transfer: DataTransfer
  view(data: DataView, byteOffset?: number): CommandCursor & Values<CommonFields & F>
  /** The entry at byteOffset, one `NAME=value` a field that is not zero; bits that no row declares last. */
  describe(data: DataView, byteOffset?: number): string[]
  /** Writes a whole entry at byteOffset; fields not given are zero. */
  encode(data: DataView, byteOffset: number, values: Partial<Omit<Values<CommonFields & F>, 'OPC'>>): void
}

export type Command<F extends FieldMap = FieldMap> = Omit<Struct<CommonFields & F>, 'view' | 'create' | 'format'> &
  CommandMethods<F>

export interface CommandFacts {
  readonly opcode: number
  readonly doc: string
  readonly spec: SpecRef
}

/** Declares a command of the Admin queue by the rows of its command dwords. */
export function adminCommand<const F extends FieldMap>(name: string, facts: CommandFacts, fields: F): Command<F> {
  return command(name, 'admin', facts, fields)
}

/** Declares a command of the NVM Command Set by the rows of its command dwords. */
export function nvmCommand<const F extends FieldMap>(name: string, facts: CommandFacts, fields: F): Command<F> {
  return command(name, 'nvm', facts, fields)
}

function command<F extends FieldMap>(name: string, set: 'admin' | 'nvm', facts: CommandFacts, fields: F): Command<F> {
  const { opcode, doc, spec } = facts
  const allFields = { ...sqeFields, ...fields }
  const declared = declaredBits(name, ENTRY_BYTES, allFields)
  const layout = struct(name, { bytes: ENTRY_BYTES, doc, spec }, allFields, {
    begin(cid: number) {
      const { base, longs } = this
      if ((cid & 0xffff) !== cid) refuseCid(name, cid)
      if (longs === undefined) {
        clear(this.data, base)
      } else {
        // Eight 64-bit zeroes: a fill() is a call, and on a subarray an object per command.
        const first = base >>> 3
        longs[first] = 0
        longs[first + 1] = 0
        longs[first + 2] = 0
        longs[first + 3] = 0
        longs[first + 4] = 0
        longs[first + 5] = 0
        longs[first + 6] = 0
        longs[first + 7] = 0
      }
      // Through the DataView on purpose: it throws when the memory was detached, where typed arrays are silent.
      this.data.setUint32(base, opcode | (cid << 16), true)
      return this
    },
  })
  const view = (data: DataView, byteOffset = 0) =>
    layout.view(data, byteOffset) as unknown as CommandCursor & Values<CommonFields & F>
  const methods: CommandMethods<F> = {
    opcode,
    set,
    transfer: transfers[opcode & 3]!,
    view,
    describe: (data, byteOffset = 0) => [
      ...layout.format(layout.view(data, byteOffset)),
      ...undeclared(data, byteOffset, declared),
    ],
    encode(data, byteOffset, values) {
      const { CID = 0, ...rest } = values as { CID?: number }
      assignFields(name, allFields, view(data, byteOffset).begin(CID), rest)
    },
  }
  return Object.freeze({ ...layout, ...methods })
}

function clear(data: DataView, base: number): void {
  for (let at = base; at < base + ENTRY_BYTES; at += 4) data.setUint32(at, 0)
}

function refuseCid(name: string, cid: number): never {
  throw new RangeError(`${name}.CID: expected an integer from 0 to 65535, got ${cid}`)
}

function undeclared(data: DataView, byteOffset: number, declared: bigint): string[] {
  return Array.from({ length: ENTRY_BYTES / 4 }, (_, dword) => {
    const word = BigInt(data.getUint32(byteOffset + dword * 4, true))
    const rest = word & ~(declared >> BigInt(dword * 32))
    return rest === 0n ? '' : `CDW${dword}.undeclared=0x${rest.toString(16)}`
  }).filter((text) => text !== '')
}

/** Bits msb:lsb of Command Dword `dword`. */
export function cdw(dword: number, msb: number, lsb: number, doc: string): Field<number, None, None>
export function cdw<const V extends NamedValues>(
  dword: number,
  msb: number,
  lsb: number,
  doc: string,
  values: V,
): Field<V[keyof V], None, V>
export function cdw(dword: number, msb: number, lsb: number, doc: string, values?: NamedValues): Field<number> {
  const row: Bits = values ? bits(msb, lsb, doc, values) : bits(msb, lsb, doc)
  if (values === undefined && lsb % 8 === 0) {
    if (msb - lsb === 31) return u32(dword * 4, doc)
    if (msb - lsb === 15 && lsb % 16 === 0) return u16(dword * 4 + lsb / 8, doc)
    if (msb - lsb === 7) return u8(dword * 4 + lsb / 8, doc)
  }
  return dwordBits(dword * 4, row)
}

/** One bit of Command Dword `dword`. */
export function cdwBit(dword: number, at: number, doc: string): Field<0 | 1, None, None> {
  return dwordBits(dword * 4, bit(at, doc))
}

/** Bits of a Command Dword that hold a 0's based count. */
export function cdwCount(dword: number, msb: number, lsb: number, doc: string): Field<ZeroBased, None, None> {
  if (lsb === 0 && msb === 15) return u16(dword * 4, doc) as unknown as Field<ZeroBased, None, None>
  return dwordBits(dword * 4, count(msb, lsb, doc))
}

/** A 64-bit value in Command Dwords `dword` (low) and `dword + 1`. */
export function cdw64(dword: number, doc: string): Field<number, None, None> {
  return n64(dword * 4, doc)
}
