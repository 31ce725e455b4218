import { cursorClasses, littleEndian, type CursorMethods } from './cursor.js'
import { refuse, shown, type SpecRef, type Where } from './spec-ref.js'
import type { Cursor, FieldMap, StructFacts, Values } from './struct.js'

/** Common part of commands and structures: fields at offsets, and cursors over them. */
export interface Placed<F extends FieldMap> extends StructFacts {
  readonly name: string
  readonly fields: F
  /** Returns a cursor; structure 0 is at byteOffset of `data`. @throws RangeError if `data` ends before it does. */
  readonly view: (data: DataView, byteOffset?: number) => Cursor & Values<F> & { readonly data: DataView }
}

/** Places fields in `facts.bytes` bytes. `checkLayout` checks whether they fit. */
export function place<F extends FieldMap>(
  name: string,
  facts: StructFacts,
  fields: F,
  cursorMethods: CursorMethods = {},
): Placed<F> {
  const { bytes, spec } = facts
  let classes: ReturnType<typeof cursorClasses> | undefined
  return {
    ...facts,
    name,
    fields,
    view(data, byteOffset = 0) {
      needBytes(name, bytes, spec, data, byteOffset)
      // On first use: programs need cursors of few structures.
      const [AnyCursor, AlignedCursor] = (classes ??= cursorClasses({ name, spec }, bytes, fields, cursorMethods))
      const aligned = littleEndian && (data.byteOffset | byteOffset | bytes) % 8 === 0
      return new (aligned ? AlignedCursor : AnyCursor)(data, byteOffset, bytes, aligned) as unknown as Cursor &
        Values<F> & { readonly data: DataView }
    },
  }
}

/** @throws TypeError if `data` is not a DataView, RangeError if it ends before a structure at byteOffset does. */
export function needBytes(name: string, bytes: number, spec: SpecRef, data: DataView, byteOffset: number): void {
  // By its brand: one of another realm, as of an iframe, is a DataView too.
  if (Object.prototype.toString.call(data) !== '[object DataView]')
    throw new TypeError(
      `${name}: expected new DataView(b.buffer, b.byteOffset, b.byteLength), got ${shown(data)} (${spec})`,
    )
  if (Number.isInteger(byteOffset) && byteOffset >= 0 && byteOffset + bytes <= data.byteLength) return
  const Kind = typeof byteOffset === 'number' ? RangeError : TypeError
  throw new Kind(
    `${name} needs ${bytes} bytes at offset ${shown(byteOffset)}, the view has ${data.byteLength} (${spec})`,
  )
}

/** Whether a value is an object of names, and not one that keeps what it holds elsewhere: an array, a map, a view. */
export function isPlain(values: unknown): values is Readonly<Record<string, unknown>> {
  return Object.prototype.toString.call(values) === '[object Object]'
}

/** @throws TypeError for a name that is no field's: on a plain object it would be lost without a word. */
export function checkNames({ name, spec }: Where, fields: object, values: unknown): void {
  if (!isPlain(values)) refuse({ name, spec }, 'fields', 'an object of fields', values, '')
  for (const key of Object.keys(values)) {
    if (!Object.hasOwn(fields, key))
      throw new TypeError(`${name} has no field ${key}; its fields: ${Object.keys(fields).join(' ')} (${spec})`)
  }
}
