import {
  bit,
  bits,
  count,
  dwordBits,
  inHex,
  n64,
  openBits,
  u32,
  type Field,
  type FieldMap,
  type Layout,
  type None,
  type ZeroBased,
} from './rows.js'
import type { NamedValues } from './access.js'
import { checkLayout } from './check.js'
import { checkNames, type Facts, type Memory } from './facts.js'
import { viewed, type Cursor, type Values } from './structs.js'

const ENTRY_BYTES = 64

const settable = {
  FUSE: dwordBits(0, bits(9, 8, 'Fused Operation', { NORMAL: 0, FIRST: 1, SECOND: 2 })),
  PSDT: dwordBits(0, bits(15, 14, 'PRP or SGL for Data Transfer', { PRP: 0, SGL: 1, SGL_SEGMENT_MPTR: 2 })),
  CID: inHex(dwordBits(0, bits(31, 16, 'Command Identifier'))),
  NSID: u32(4, 'Namespace Identifier'),
  MPTR: n64(16, 'Metadata Pointer'),
  PRP1: n64(24, 'PRP Entry 1'),
  PRP2: n64(32, 'PRP Entry 2'),
} satisfies FieldMap

/** The fields of every submission queue entry (Base 2.1 §4.1.1, Figures 91 and 92). */
export const sqeFields = { OPC: inHex(dwordBits(0, bits(7, 0, 'Opcode'))), ...settable } satisfies FieldMap

/** The fields that every command has: those of `sqeFields`. */
export type CommonFields = typeof sqeFields

/** The command set of an opcode: that of the Admin queue, or one of an I/O queue. */
export type CommandSet = 'admin' | 'nvm' | 'zns'

/** Direction of a command's data, from bits 1:0 of its opcode (Base 2.1 §4.1.1). */
export type DataTransfer = 'none' | 'host-to-controller' | 'controller-to-host' | 'both'

const transfers: readonly DataTransfer[] = ['none', 'host-to-controller', 'controller-to-host', 'both']

/** A cursor over submission queue entries of one command. */
export interface CommandCursor extends Cursor {
  /**
   * Zeroes the current entry, then writes the command's opcode and `cid`.
   * @throws TypeError or RangeError if `cid` is not an integer from 0 to 65535.
   */
  begin(cid: number): this
}

/** Field values to encode a command from. */
export type CommandValues<F extends FieldMap> = Partial<Omit<Values<CommonFields & F>, 'OPC'>>

/** Methods of every command. `decodeSqe` and `formatSqe` read entries of any command. */
export interface CommandMethods<F extends FieldMap> extends AnyCommand {
  readonly fields: CommonFields & F
  /**
   * Returns a cursor over entries of 64 bytes; the first is at byteOffset of `memory`.
   * @throws RangeError if `memory` ends before the first entry does.
   */
  view(memory: Memory, byteOffset?: number): CommandCursor & Values<CommonFields & F>
  /**
   * Writes a whole entry at byteOffset; missing fields are zero.
   * @throws TypeError or RangeError for a value that does not fit, naming the field; TypeError for an unknown name;
   *   RangeError if `memory` ends before the entry does. Nothing is written then.
   */
  encode(memory: Memory, byteOffset: number, values: CommandValues<F>): void
}

/** A command as declared by its figures. Its fields are properties: `Read.NLB.doc`. */
export type Command<F extends FieldMap = FieldMap> = CommandMethods<F> & Readonly<CommonFields & F>

/** Any command, for code that looks commands up by opcode. */
export interface AnyCommand extends Layout {
  readonly doc: string
  readonly opcode: number
  readonly set: CommandSet
  readonly transfer: DataTransfer
  /** Like `CommandMethods.view`, without static field names. */
  view(memory: Memory, byteOffset?: number): Cursor
  /** Like `CommandMethods.encode`, without static field names. */
  encode(memory: Memory, byteOffset: number, values: Readonly<Record<string, unknown>>): void
}

/** Properties of a command's declaration, other than its rows. */
export interface CommandFacts extends Facts {
  readonly opcode: number
}

/**
 * Declares an Admin command by the rows of its command dwords.
 * @throws RangeError if rows overlap, with each other or with the fields of every entry, or exceed their dword.
 */
/*#__NO_SIDE_EFFECTS__*/
export function adminCommand<const F extends FieldMap>(name: string, facts: CommandFacts, fields: F): Command<F> {
  return checked(command(name, 'admin', facts, fields))
}

/** Declares a command of the NVM Command Set, or one common to all I/O command sets. @throws as `adminCommand`. */
/*#__NO_SIDE_EFFECTS__*/
export function nvmCommand<const F extends FieldMap>(name: string, facts: CommandFacts, fields: F): Command<F> {
  return checked(command(name, 'nvm', facts, fields))
}

/** Declares a command that exists only in the Zoned Namespace Command Set. @throws as `adminCommand`. */
/*#__NO_SIDE_EFFECTS__*/
export function znsCommand<const F extends FieldMap>(name: string, facts: CommandFacts, fields: F): Command<F> {
  return checked(command(name, 'zns', facts, fields))
}

function checked<C extends AnyCommand>(command: C): C {
  const { name, opcode } = command
  if (!Number.isInteger(opcode) || opcode < 0 || opcode > 0xff)
    throw new RangeError(`${name}: expected an opcode from 0 to 255, got ${opcode}`)
  checkLayout(command)
  return command
}

/**
 * Declares a command without checks, for commands that a browser may load alone. A test checks all declarations
 * instead.
 */
/*#__NO_SIDE_EFFECTS__*/
export function command<F extends FieldMap>(name: string, set: CommandSet, facts: CommandFacts, fields: F): Command<F> {
  const { opcode, doc, spec } = facts
  const declared = viewed(
    name,
    { bytes: ENTRY_BYTES, doc, spec },
    { ...sqeFields, ...fields },
    {
      begin(cid: number) {
        const { base, longs } = this
        // The field's setter rejects it.
        if (typeof cid !== 'number' || (cid & 0xffff) !== cid) Object.assign(this, { CID: cid })
        if (longs === undefined) {
          clear(this.data, base)
        } else {
          // Eight 64-bit zeroes: fill() is a call, and on a subarray it allocates an object per command.
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
        // Through the DataView on purpose: it throws if the memory was detached; typed arrays ignore the store.
        this.data.setUint32(base, opcode | (cid << 16), true)
        return this
      },
    },
  )
  const view = declared.view as unknown as CommandMethods<F>['view']
  const methods: CommandMethods<F> = {
    ...declared,
    opcode,
    set,
    transfer: transfers[opcode & 3]!,
    view,
    encode(memory, byteOffset, values) {
      // Checks the length.
      const { data } = view(memory, byteOffset) as unknown as { data: DataView }
      // Without OPC: the opcode is given by the command.
      checkNames(methods, { ...settable, ...fields }, values)
      const { CID, ...rest } = { CID: 0, ...values }
      const fresh = new DataView(new ArrayBuffer(ENTRY_BYTES))
      Object.assign(view(fresh).begin(CID), rest)
      new Uint8Array(data.buffer, data.byteOffset + byteOffset, ENTRY_BYTES).set(new Uint8Array(fresh.buffer))
    },
  }
  return Object.freeze({ ...methods, ...declared.fields })
}

function clear(data: DataView, base: number): void {
  for (let at = base; at < base + ENTRY_BYTES; at += 4) data.setUint32(at, 0)
}

/** Declares bits msb:lsb of Command Dword `dword`; with `values`, only those may be stored. */
export function cdw(dword: number, msb: number, lsb: number, doc: string): Field<number, None, None>
export function cdw<const V extends NamedValues>(
  dword: number,
  msb: number,
  lsb: number,
  doc: string,
  values: V,
): Field<V[keyof V], None, V> & V
/*#__NO_SIDE_EFFECTS__*/
export function cdw(dword: number, msb: number, lsb: number, doc: string, values?: NamedValues): Field<number> {
  return values === undefined && msb - lsb === 31
    ? u32(dword * 4, doc)
    : dwordBits(dword * 4, bits(msb, lsb, doc, values!))
}

/**
 * Declares bits msb:lsb of Command Dword `dword` in which some values have names, such as an identifier that vendors
 * extend.
 */
/*#__NO_SIDE_EFFECTS__*/
export function cdwOpen<const V extends NamedValues>(
  dword: number,
  msb: number,
  lsb: number,
  doc: string,
  values: V,
): Field<number, None, V> & V {
  return dwordBits(dword * 4, openBits(msb, lsb, doc, values))
}

/** Declares one bit of Command Dword `dword`. */
/*#__NO_SIDE_EFFECTS__*/
export function cdwBit(dword: number, at: number, doc: string): Field<0 | 1, None, None> {
  return dwordBits(dword * 4, bit(at, doc))
}

/** Declares bits of a Command Dword that hold a 0's based count. */
/*#__NO_SIDE_EFFECTS__*/
export function cdwCount(dword: number, msb: number, lsb: number, doc: string): Field<ZeroBased, None, None> {
  return dwordBits(dword * 4, count(msb, lsb, doc))
}

/** Declares a 64-bit value in Command Dwords `dword` (low) and `dword + 1`, as a number: see `n64`. */
/*#__NO_SIDE_EFFECTS__*/
export function cdw64(dword: number, doc: string): ReturnType<typeof n64> {
  return n64(dword * 4, doc)
}
