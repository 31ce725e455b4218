import * as pci from '../../src/pci/index.js'
import * as spec from '../../src/index.js'
import { allCommands, allFeatures } from '../../src/all.js'
import { sqeFields, type AnyWord32, type Field, type FieldMap } from '../../src/layout/index.js'
import { declared } from '../declared.js'

/** Value from a line of the check program, and value computed in TypeScript; equal if both agree. */
export interface Verdict {
  readonly got: unknown
  readonly expected: unknown
}

type Judge = (...numbers: (bigint | undefined)[]) => Verdict
type Rows = Readonly<Record<string, Row>>
interface Row {
  readonly msb: number
  readonly lsb: number
  readonly values: Readonly<Record<string, number>>
  readonly open?: boolean
}
interface Placed {
  readonly bytes: number
  readonly fields: FieldMap
  view(data: DataView): object
}
interface Struct extends Placed {
  decode(data: DataView): Readonly<Record<string, unknown>>
}
interface Extent {
  readonly offset: number
  readonly lengthBytes: number
}
interface Word {
  readonly fields: Rows
  encode(values: Record<string, number | bigint>): number | bigint
  decode(raw: number | bigint): object
}

/** PATTERN and CID of the check program. */
const PATTERN = 0x1e_3779_b97f_4a15n
const CID = 0x0412

const onesOf = ({ msb, lsb }: Pick<Row, 'msb' | 'lsb'>) => (1n << BigInt(msb - lsb + 1)) - 1n
const bitCount = (word: bigint) => word.toString(2).replaceAll('0', '').length

/** Returns a judge for each line that the check program should print, by the first words of the line. */
export function judges(): Map<string, Judge> {
  const all = new Map<string, Judge>()
  const number = (path: string, expected: number) =>
    all.set(`number ${path}`, (got) => ({ got, expected: BigInt(expected) }))

  for (const register of spec.registers) {
    number(`${register.name}.offset`, register.offset)
    judgeWord(all, register.name, register)
  }
  number('DOORBELL_BASE', spec.DOORBELL_BASE)
  for (const qid of [0, 1, 2, 65_535]) {
    for (let dstrd = 0; dstrd < 16; dstrd++) {
      const doorbell = (which: string, expected: number) =>
        all.set(`doorbell ${which} ${qid} ${dstrd}`, (got) => ({ got, expected: BigInt(expected) }))
      doorbell('TAIL', spec.sqTailDoorbell(qid, dstrd))
      doorbell('HEAD', spec.cqHeadDoorbell(qid, dstrd))
    }
  }
  for (const struct of withNested(declared.structs)) {
    const name = publicName(struct)
    number(`${name}.bytes`, struct.bytes)
    for (const [key, field] of Object.entries(struct.fields)) {
      const bytes = wholeBytes(field)
      if (bytes !== undefined) all.set(`member ${name}.${key}`, judgeMember(struct, key, bytes))
      judgeField(all, `${name}.${key}`, struct, key, field, bytes === undefined)
    }
  }
  for (const command of allCommands) {
    const name = publicName(command)
    number(`${name}.opcode`, command.opcode)
    const own = Object.entries(command.fields).filter(([key]) => !(key in sqeFields))
    for (const [key, field] of own) if (!isWide(field)) judgeField(all, `${name}.${key}`, command, key, field, true)
    all.set(`sqe ${name}`, (got) => {
      const data = new DataView(new ArrayBuffer(64))
      const values = Object.fromEntries(own.map(([key, field]) => [key, knownRaw(command, key, field)]))
      command.encode(data, 0, { CID, ...values })
      return { got: got?.toString(16).padStart(128, '0'), expected: hexOf(data) }
    })
  }
  for (const feature of allFeatures) {
    const name = publicName(feature)
    number(`${name}.fid`, feature.fid)
    for (const dword of ['CDW11', 'CDW12', 'CDW13', 'CDW14', 'CDW15', 'DW0'] as const) {
      const word: AnyWord32 | undefined = feature[dword]
      const inherited = dword === 'DW0' && word?.fields === feature.CDW11?.fields
      if (word !== undefined && !inherited) judgeWord(all, `${name}.${dword}`, word)
    }
  }
  for (const word of declared.words) judgeWord(all, publicName(word), word)
  for (const table of declared.codes) {
    for (const [key, value] of Object.entries(table.values)) number(`${publicName(table)}.${key}`, value)
  }
  for (const name of ['STATUS', 'FABRICS_STATUS'] as const) {
    for (const [key, { sct, sc }] of Object.entries(spec[name])) number(`${name}.${key}`, sct * 256 + sc)
  }
  return all
}

/** Returns the exported name of a declaration, which is also its name in C. */
function publicName(item: object): string {
  const [name] = Object.entries({ ...spec, ...pci }).find(([, value]) => value === item) ?? []
  if (name === undefined) throw new Error(`${(item as { name: string }).name} is not exported by the package`)
  return name
}

function withNested(structs: readonly Struct[]): Set<Struct> {
  const nested = structs.flatMap(({ fields }) =>
    Object.values(fields).flatMap((field) =>
      'struct' in field ? [(field as unknown as { struct: Struct }).struct] : [],
    ),
  )
  return nested.length === 0 ? new Set(structs) : new Set([...structs, ...withNested(nested)])
}

function judgeWord(all: Map<string, Judge>, path: string, word: Word): void {
  const isBig = typeof word.encode({}) === 'bigint'
  const raw = (value = 0n) => (isBig ? value : Number(value))
  for (const [key, row] of Object.entries(word.fields)) {
    all.set(`bits ${path}.${key}`, (_offset, got) => ({
      got: [bitCount(got ?? 0n), BigInt((word.decode(raw(got)) as Record<string, number | bigint>)[key]!)],
      expected: [row.msb - row.lsb + 1, onesOf(row)],
    }))
    for (const [name, value] of Object.entries(row.values)) {
      all.set(`value ${path}.${key}.${name}`, (_offset, got) => ({
        got: raw(got),
        expected: word.encode({ [key]: value }),
      }))
    }
  }
  if (Object.keys(word.fields).length === 0) return
  all.set(`word ${path}`, (got) => {
    const values = Object.entries(word.fields).map(([key, row]) => [key, known(row)])
    return { got: raw(got), expected: word.encode(Object.fromEntries(values) as Record<string, number | bigint>) }
  })
}

/** Adds judges for the lines of the bits and named values of a field, or of its rows. */
function judgeField(
  all: Map<string, Judge>,
  path: string,
  owner: Placed,
  key: string,
  field: Field,
  hasMask: boolean,
): void {
  const { rows, values } = field
  const judge = (name: string, row: Row) => {
    all.set(`bits ${name}`, (offset = 0n, got = 0n) => ({
      got: [
        bitCount(got),
        (BigInt(read(owner, key, offset, got)) & (onesOf(row) << BigInt(row.lsb))) >> BigInt(row.lsb),
      ],
      expected: [row.msb - row.lsb + 1, onesOf(row)],
    }))
  }
  const judgeValues = (name: string, row: Row) => {
    for (const [valueName, value] of Object.entries(row.values)) {
      all.set(`value ${name}.${valueName}`, (offset = 0n, got = 0n) => {
        const data = new DataView(new ArrayBuffer(owner.bytes))
        write(owner, key, data, BigInt(value) << BigInt(row.lsb))
        return { got: hexOf(memory(owner.bytes, offset, got)), expected: hexOf(data) }
      })
    }
  }
  // A view returns the value of such a field already shifted, and a word with rows unshifted.
  const shifted = { msb: field.msb - field.lsb, lsb: 0, values }
  if (hasMask) judge(path, shifted)
  judgeValues(path, shifted)
  for (const [name, row] of Object.entries(rows)) {
    judge(`${path}.${name}`, row)
    judgeValues(`${path}.${name}`, row)
  }
}

/** Returns the bytes of a field; undefined if it shares a byte with others, so that C has no member for it. */
function wholeBytes({ offset, msb, lsb }: Field): Extent | undefined {
  const width = msb - lsb + 1
  return lsb % 8 === 0 && width % 8 === 0 ? { offset: offset + lsb / 8, lengthBytes: width / 8 } : undefined
}

/** Returns the judge of a member of a structure, with the bytes that fill() of the program stores. */
function judgeMember(struct: Struct, key: string, { offset, lengthBytes }: Extent): Judge {
  const bytes = Buffer.from(Array.from({ length: struct.bytes }, (_, i) => (7 * i + Math.floor(i / 256) + 1) & 0xff))
  const data = new DataView(bytes.buffer, bytes.byteOffset, struct.bytes)
  const values = [struct.decode(data)[key], (struct.view(data) as Record<string, unknown>)[key]]
  const value = values.find((value) => typeof value === 'number' || typeof value === 'bigint')
  return (gotOffset, gotBytes, last = 0n, got) => {
    const first = lengthBytes - Number(last)
    const tail = bytes.subarray(offset + first, offset + lengthBytes)
    const expected =
      value === undefined
        ? BigInt(`0x0${Buffer.from(tail).reverse().toString('hex')}`)
        : BigInt(value) >> BigInt(first * 8)
    return { got: [gotOffset, gotBytes, got], expected: [BigInt(offset), BigInt(lengthBytes), expected] }
  }
}

const isWide = (field: Field) => (field.offset % 4) + field.lengthBytes > 4

/** Returns the value that the program stores in a row. */
function known(row: Row & { readonly wide?: boolean }): number | bigint {
  const last = Object.values(row.values).at(-1)
  if (last !== undefined && row.open !== true) return last
  const value = PATTERN & onesOf(row)
  return (row.wide ?? row.msb - row.lsb > 31) ? value : Number(value)
}

/** Returns the value that the program stores in a field of a command. */
function knownRaw(command: Placed, key: string, field: Field): number | bigint {
  const { rows, values, open = false, lengthBytes } = field
  if (Object.keys(rows).length > 0) {
    return Number(Object.values(rows).reduce((sum, row) => sum | (BigInt(known(row)) << BigInt(row.lsb)), 0n))
  }
  const wide = typeof (command.view(new DataView(new ArrayBuffer(64))) as Record<string, unknown>)[key] === 'bigint'
  if (wide && lengthBytes === 16) return PATTERN | (PATTERN << 64n)
  return known({ msb: field.msb, lsb: field.lsb, values, open, wide })
}

/** Returns the value of a field, or of the first word of an array, in memory with `word` at `offset`. */
function read(owner: Placed, key: string, offset: bigint, word: bigint): number | bigint {
  const value = (owner.view(memory(owner.bytes, offset, word)) as Record<string, unknown>)[key]
  return ArrayBuffer.isView(value) ? (value as Uint32Array)[0]! : (value as number | bigint)
}

/** Stores a value in a field, or in the first word of an array. */
function write(owner: Placed, key: string, data: DataView, value: bigint): void {
  const view = owner.view(data) as Record<string, unknown>
  const old = view[key]
  if (ArrayBuffer.isView(old)) {
    const words = old as Uint32Array
    words[0] = Number(value)
    view[key] = words
  } else {
    view[key] = typeof old === 'bigint' ? value : Number(value)
  }
}

function memory(lengthBytes: number, offset: bigint, word: bigint): DataView {
  const data = new DataView(new ArrayBuffer(lengthBytes))
  for (let at = Number(offset), rest = word; rest !== 0n; at++, rest >>= 8n) data.setUint8(at, Number(rest & 0xffn))
  return data
}

function hexOf(data: DataView): string {
  return Buffer.from(data.buffer).toString('hex')
}
