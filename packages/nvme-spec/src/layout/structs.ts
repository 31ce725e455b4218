// Structures, and cursors over them.
import { nameIn } from './access.js'
import { checkLayout } from './check.js'
import { isPlain, rejectValue, viewOf, type Memory, type StructFacts, type Where, type Whole } from './facts.js'
import { decodeFields, encodeFields, type Decoded, type Encodable, type EncodeOptions } from './objects.js'
import { field, type BitsMap, type Field, type FieldMap, type FieldValue, type Nested, type None } from './rows.js'
import { describeFields } from './text.js'
import { bitsHandle, withHandles, type BitsHandle } from './words.js'

/** Whether this host is little endian, as the structures are. */
const littleEndian = new Uint8Array(Uint32Array.of(1).buffer)[0] === 1

/**
 * A movable view of structures in memory: assigning to a field writes it, reading it loads it. It allocates no object
 * per structure. `at(index)` moves to the index-th structure of an array and returns the cursor. Memory that is resized
 * or transferred needs a new cursor: stores through the old one may be lost.
 */
export interface Cursor {
  /** Moves to the index-th structure. @throws RangeError if the memory ends before that structure does. */
  at(index: number): this
}

/** The fields of a structure, as read and written through its cursor. */
export type Values<F extends FieldMap> = { -readonly [K in keyof F]: FieldValue<F[K]> }

/** Common part of commands and structures: fields at offsets, and cursors over them. */
export interface Viewed<F extends FieldMap> extends StructFacts {
  readonly name: string
  readonly fields: F
  /** Returns a cursor; structure 0 is at byteOffset of `memory`. @throws RangeError if `memory` ends before it does. */
  readonly view: (memory: Memory, byteOffset?: number) => Cursor & Values<F> & { readonly data: DataView }
}

/** Places fields in `facts.bytes` bytes. `checkLayout` checks whether they fit. */
export function viewed<F extends FieldMap>(
  name: string,
  facts: StructFacts,
  fields: F,
  methods: CursorMethods = {},
): Viewed<F> {
  const { bytes, spec } = facts
  const owner = { name, bytes, spec }
  let classes: ReturnType<typeof cursorClasses> | undefined
  return {
    ...facts,
    name,
    fields,
    view(memory, byteOffset = 0) {
      const data = viewOf(owner, memory, byteOffset)
      // On first use: programs need cursors of few structures.
      const [AnyCursor, AlignedCursor] = (classes ??= cursorClasses(owner, fields, methods))
      const aligned = littleEndian && (data.byteOffset | byteOffset | bytes) % 8 === 0
      return new (aligned ? AlignedCursor : AnyCursor)(data, byteOffset, bytes, aligned) as unknown as Cursor &
        Values<F> & { readonly data: DataView }
    },
  }
}

/** State of every cursor; methods that a kind of structure adds to its cursors have it as `this`. */
export class CursorBase {
  declare data: DataView
  declare origin: number
  declare base: number
  /** Largest base at which a structure fits. */
  declare last: number
  /**
   * The memory of `data` as dwords, if all structures are aligned to 8 bytes and the host is little endian. A compiler
   * keeps the type of a typed array across stores, but checks a DataView again after each.
   */
  declare words: Uint32Array | undefined
  declare longs: Float64Array | undefined

  constructor(data: DataView, byteOffset: number, lengthBytes: number, aligned: boolean) {
    this.data = data
    this.origin = byteOffset
    this.base = byteOffset
    this.last = data.byteLength - lengthBytes
    this.words = aligned ? new Uint32Array(data.buffer, data.byteOffset, data.byteLength >>> 2) : undefined
    this.longs = aligned ? new Float64Array(data.buffer, data.byteOffset, data.byteLength >>> 3) : undefined
  }
}

/** Methods that a kind of structure adds to its cursors, such as a command's `begin`. */
export type CursorMethods = Readonly<Record<string, (this: CursorBase, ...args: never[]) => unknown>>

/**
 * Creates two classes per structure, so that a field access is a property of a known shape: one for memory at any
 * address, and one that stores whole dwords through typed arrays where alignment allows.
 */
function cursorClasses(owner: Whole, fields: FieldMap, methods: CursorMethods) {
  const { bytes: strideBytes } = owner
  class AnyCursor extends CursorBase {
    at(index: number): this {
      // Integers throughout, which are faster than numbers that may have a fraction.
      const count = typeof index === 'number' ? index | 0 : -1
      const base = this.origin + count * strideBytes
      // A store outside a typed array is silently ignored; check here instead.
      if (count !== index || count < 0 || base > this.last) refuseIndex(owner, index, this)
      this.base = base
      return this
    }
  }
  class AlignedCursor extends AnyCursor {
    declare words: Uint32Array
  }
  for (const key in fields) {
    const field = fields[key]!
    const { get, set, setWords } = field.codec(field)
    const where: Where = Object.freeze({ name: `${owner.name}.${key}`, spec: owner.spec })
    const load = function (this: CursorBase): unknown {
      return get(this.data, this.base)
    }
    const define = (cursors: { prototype: object }, store: (this: AlignedCursor, value: unknown) => void) =>
      Object.defineProperty(cursors.prototype, key, { get: load, set: store, enumerable: true })
    define(AnyCursor, function (value) {
      set(this.data, this.base, value, where)
    })
    if (setWords && field.offset % 4 === 0)
      define(AlignedCursor, function (value) {
        setWords(this, value, where)
      })
  }
  Object.assign(AnyCursor.prototype, methods)
  return [AnyCursor, AlignedCursor] as const
}

function refuseIndex(owner: Whole, index: unknown, { origin, last }: CursorBase): never {
  rejectValue(owner, 'index', `an integer from 0 to ${Math.floor((last - origin) / owner.bytes)}`, index)
}

/** Properties of a declaration's field property, other than its named values. */
export interface FieldFacts extends Pick<Field, 'offset' | 'lengthBytes' | 'doc'> {
  /** Returns the specification's name of a value of the field, or the number if it has none. */
  nameOf(value: number): string
}

/** A field's bit rows, bound, and its named values: `IdentifyController.OACS.FNVMS.of(view.OACS)`. */
export type FieldHandle<F> = F extends { readonly rows: infer B extends BitsMap; readonly values: infer V }
  ? { readonly [K in keyof B]: BitsHandle<B[K]> } & V & FieldFacts
  : never

/** Methods of every structure. */
export interface StructMethods<F extends FieldMap> extends StructFacts {
  readonly name: string
  readonly fields: F
  /** Returns a cursor; structure 0 is at byteOffset of `memory`. @throws RangeError if `memory` ends before it does. */
  view(memory: Memory, byteOffset?: number): Cursor & Values<F>
  /** Returns one structure in new memory with these values; the rest is zero. @throws as `encode`. */
  create(values?: Partial<Encodable<F>>): Cursor & Values<F> & { readonly data: DataView }
  /**
   * Decodes the structure at byteOffset to a plain object. It is complete: words with rows are objects of their rows,
   * and set bits that no row declares are in `reserved`.
   * @throws RangeError if `memory` ends before the structure does.
   */
  decode(memory: Memory, byteOffset?: number): Decoded<F>
  /**
   * Writes a whole structure at byteOffset; missing values are zero. The inverse of `decode`, except that text is
   * padded as specified, and that values which the specification reserves are rejected unless `allowReserved` is set.
   * @throws TypeError or RangeError for a value that does not fit, naming the field; TypeError for an unknown name;
   *   RangeError if `memory` ends before the structure does. Nothing is written then.
   */
  encode(memory: Memory, byteOffset: number, values: Partial<Encodable<F>>, options?: EncodeOptions): void
  /**
   * Returns one `NAME=value` per field that is not zero, then set bits that no row declares, as `reserved[byte]=hex`.
   * @throws RangeError if `memory` ends before the structure does.
   */
  describe(memory: Memory, byteOffset?: number): string[]
}

/** A structure as declared by its figure. Its fields are properties too: `SQE.CID.offset`. */
export type Struct<F extends FieldMap = FieldMap> = StructMethods<F> & { readonly [K in keyof F]: FieldHandle<F[K]> }

/** Any structure, for code that looks structures up by number. */
export interface AnyStruct extends StructFacts {
  readonly name: string
  readonly fields: FieldMap
  /** Like `StructMethods.view`, without static field names. */
  view(memory: Memory, byteOffset?: number): Cursor
  /** Like `StructMethods.decode`, without static field names. */
  decode(memory: Memory, byteOffset?: number): Readonly<Record<string, unknown>>
  /** Like `StructMethods.encode`, without static field names. */
  encode(memory: Memory, byteOffset: number, values: Readonly<Record<string, unknown>>, options?: EncodeOptions): void
  /** Like `StructMethods.describe`. */
  describe(memory: Memory, byteOffset?: number): string[]
}

/**
 * Declares a structure of `facts.bytes` bytes.
 * @param defaults values and rows that `encode` and `create` store if none are given: an opcode, a header length.
 * @throws RangeError if rows overlap or exceed the structure.
 */
/*#__NO_SIDE_EFFECTS__*/
export function struct<const F extends FieldMap>(
  name: string,
  facts: StructFacts,
  fields: F,
  defaults?: Partial<Encodable<F>>,
): Struct<F> {
  const declared = viewed(name, facts, fields)
  checkLayout(declared)
  const { view } = declared
  const methods: StructMethods<F> = {
    ...declared,
    view,
    create(values = {}) {
      const data = new DataView(new ArrayBuffer(facts.bytes))
      methods.encode(data, 0, values)
      return view(data)
    },
    decode: (memory, byteOffset) => decodeFields(declared, memory, byteOffset),
    encode: (memory, byteOffset, values, options) => {
      // `encodeFields` rejects values that are not an object.
      const filled = defaults !== undefined && isPlain(values) ? withDefaults(defaults, values) : values
      encodeFields(declared, memory, byteOffset, filled, options)
    },
    describe: (memory, byteOffset) => describeFields(declared, memory, byteOffset),
  }
  return Object.freeze(withHandles(fields, methods, fieldHandle)) as unknown as Struct<F>
}

/** Returns `values` with defaults for missing fields and for missing rows of words. */
function withDefaults(defaults: Readonly<Record<string, unknown>>, values: Readonly<Record<string, unknown>>): object {
  const filled: Record<string, unknown> = { ...defaults, ...values }
  for (const key in defaults) if (isPlain(filled[key])) filled[key] = { ...(defaults[key] as object), ...filled[key] }
  return filled
}

function fieldHandle(_name: string, field: Field): object {
  const { offset, lengthBytes, doc, rows, values } = field
  const nameOf = (value: number) => nameIn(field, value)
  return Object.freeze(withHandles(rows, { ...values, offset, lengthBytes, doc, nameOf }, bitsHandle))
}

/** A field that is an array of structures. */
export type StructsField<F extends FieldMap> = Field<Cursor & Values<F>, None, None> &
  Nested<readonly Decoded<F>[], readonly Partial<Encodable<F>>[]> & {
    readonly struct: Struct<F>
    readonly count: number
  }

/**
 * Declares an array of `count` structures. Reading returns a cursor, which is also used for writing: `view.PSD.at(3).MP
 * = 250`. Decoded they are an array; when an array is encoded, missing elements are zero.
 */
/*#__NO_SIDE_EFFECTS__*/
export function structs<const F extends FieldMap>(
  offset: number,
  count: number,
  struct: Struct<F>,
  doc: string,
): StructsField<F> {
  const lengthBytes = count * struct.bytes
  const codec = () => ({
    get: (data: DataView, base: number) =>
      struct.view(new DataView(data.buffer, data.byteOffset + base + offset, lengthBytes)),
    set(_data: DataView, _base: number, value: unknown, where: Where) {
      rejectValue(where, doc, 'an assignment through at(index)', value)
    },
  })
  const kind = 'structs' as const
  return {
    ...field<Cursor & Values<F>>(offset, lengthBytes, doc, codec, { kind, elementBytes: struct.bytes }),
    struct,
    count,
  }
}
