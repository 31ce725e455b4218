import { refuse, viewOf, type Memory, type StructFacts, type Where } from './facts.js'
import type { FieldMap, FieldValue } from './rows.js'

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
  let classes: ReturnType<typeof cursorClasses> | undefined
  return {
    ...facts,
    name,
    fields,
    view(memory, byteOffset = 0) {
      const data = viewOf(name, bytes, spec, memory, byteOffset)
      // On first use: programs need cursors of few structures.
      const [AnyCursor, AlignedCursor] = (classes ??= cursorClasses({ name, spec }, bytes, fields, methods))
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
function cursorClasses(owner: Where, strideBytes: number, fields: FieldMap, methods: CursorMethods) {
  class AnyCursor extends CursorBase {
    at(index: number): this {
      // Integers throughout, which are faster than numbers that may have a fraction.
      const count = typeof index === 'number' ? index | 0 : -1
      const base = this.origin + count * strideBytes
      // A store outside a typed array is silently ignored; check here instead.
      if (count !== index || count < 0 || base > this.last) refuseIndex(owner, strideBytes, index, this)
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

function refuseIndex(owner: Where, bytes: number, index: unknown, { origin, last }: CursorBase): never {
  refuse(owner, 'index', `an integer from 0 to ${Math.floor((last - origin) / bytes)}`, index)
}
