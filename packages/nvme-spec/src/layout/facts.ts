/**
 * Source of a declaration: a specification section, or a header and a symbol in it, with its version. A reference
 * without a revision does not compile, since section numbers differ between revisions. Your own declarations use
 * `vendor` and the name of a document. `Base 2.2` and `Base 2.3` are used if the same figure of Base 2.1 could not be
 * read.
 */
export type SpecRef =
  | `${'Base 2.1' | 'Base 2.2' | 'Base 2.3' | 'NVM 1.2' | 'PCIe 1.2' | 'ZNS 1.1' | 'TCP 1.0' | 'RDMA 1.0'} §${string}`
  | `${'libnvme' | 'Linux'} ${number} ${string}`
  | `vfio-user ${string}`
  | `gpunvme ${string}`
  | `vendor ${string}`

/** Facts of every declaration. */
export interface Facts {
  readonly doc: string
  readonly spec: SpecRef
}

/** Properties of a structure's declaration, other than its fields. */
export interface StructFacts extends Facts {
  readonly bytes: number
}

/** Subject of an error: `CC.MPS`, and where the specification defines it. */
export interface Where {
  readonly name: string
  readonly spec: SpecRef
}

/** A structure as the subject of an error. */
export interface Whole extends Where {
  readonly bytes: number
}

/** Rejects a value: TypeError for the wrong type, RangeError for one out of range, always with the reason. */
export function rejectValue(where: Where, doc: string, expected: string, got: unknown, type = 'number'): never {
  const Kind = typeof got === type && got !== null ? RangeError : TypeError
  throw new Kind(`${where.name} (${doc}): expected ${expected}, got ${describeValue(got)} (${where.spec})`)
}

/** Formats a value for an error: shows its kind, and runs no code of the value. */
export function describeValue(got: unknown): string {
  if (typeof got === 'string') return JSON.stringify(got.slice(0, 80))
  if (typeof got === 'bigint') return `${got}n`
  if (typeof got === 'object') return Object.prototype.toString.call(got)
  // oxlint-disable-next-line typescript/no-base-to-string -- objects are handled above
  return String(got)
}

/**
 * Throws if an argument is not an integer from min to max; arithmetic would silently produce an invalid offset or size.
 * @throws TypeError if it is not a number, RangeError if it is out of range or not an integer.
 */
export function checkInteger(what: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): void {
  if (!(Number.isInteger(value) && value >= min && value <= max))
    rejectArgument(what, `an integer from ${min} to ${max}`, value)
}

/** Throws the error of `checkInteger`, for checks other than a range. */
export function rejectArgument(what: string, expected: string, value: unknown): never {
  const Kind = typeof value === 'number' ? RangeError : TypeError
  throw new Kind(`${what}: expected ${expected}, got ${describeValue(value)}`)
}

/** Memory that structures are read from and written to. */
export type Memory = ArrayBufferView | ArrayBufferLike

/**
 * Returns memory as a DataView that holds a whole structure at byteOffset.
 * @throws TypeError if `memory` has another type, RangeError if it ends before the structure does.
 */
export function viewOf(owner: Whole, memory: Memory, byteOffset: number): DataView {
  const data = dataViewOf(memory)
  if (data === undefined) rejectValue(owner, 'memory', 'a DataView, Uint8Array or ArrayBuffer', memory, '')
  const { name, bytes, spec } = owner
  if (Number.isInteger(byteOffset) && byteOffset >= 0 && byteOffset + bytes <= data.byteLength) return data
  const Kind = typeof byteOffset === 'number' ? RangeError : TypeError
  throw new Kind(
    `${name} needs ${bytes} bytes at offset ${describeValue(byteOffset)}, got ${data.byteLength} (${spec})`,
  )
}

function dataViewOf(memory: Memory): DataView | undefined {
  if (memory instanceof DataView) return memory
  if (ArrayBuffer.isView(memory)) return new DataView(memory.buffer, memory.byteOffset, memory.byteLength)
  // Checks the brand, so that buffers of another realm, such as an iframe, are accepted.
  return /ArrayBuffer]$/.test(describeValue(memory)) ? new DataView(memory) : undefined
}

/** Returns whether a value is a plain object, not an array, a map or a view. */
export function isPlain(values: unknown): values is Readonly<Record<string, unknown>> {
  return describeValue(values) === '[object Object]'
}

/** @throws TypeError for an unknown field name. */
export function checkNames(where: Where, fields: object, values: unknown): void {
  if (!isPlain(values)) rejectValue(where, 'fields', 'an object of fields', values, '')
  for (const key of Object.keys(values)) {
    if (!Object.hasOwn(fields, key))
      throw new TypeError(
        `${where.name} has no field ${key}; its fields: ${Object.keys(fields).join(' ')} (${where.spec})`,
      )
  }
}
