/** Requirement for an option: text for the error, and a test. */
export interface Field {
  readonly expected: string
  /** An invalid value of this type is out of range; any other is of the wrong type. */
  readonly type?: 'number' | 'string' | 'bigint' | 'object'
  readonly isOptional?: true
  readonly isFit: (value: unknown) => boolean
  /** Checks the inside of a valid value. @throws RangeError or TypeError for an invalid part. */
  readonly inside?: (value: never, where: string) => void
}

/** A field for every name of the type, so that a new option cannot be missing. */
export type Fields<T> = { readonly [K in keyof T]-?: Field }

export const optional = (field: Field): Field => ({ ...field, isOptional: true })

export const number = (isFit: (value: number) => boolean, expected: string): Field => ({
  expected,
  type: 'number',
  isFit: (value) => typeof value === 'number' && isFit(value),
})
export const whole = (min: number, max: number, expected = `a whole number from ${min} to ${max}`): Field =>
  number((value) => Number.isSafeInteger(value) && value >= min && value <= max, expected)
export const oneOf = (values: readonly (string | number)[]): Field => ({
  expected: `one of ${values.map(show).join(', ')}`,
  type: typeof values[0] === 'string' ? 'string' : 'number',
  isFit: (value) => values.includes(value as string),
})
export const instance = (of: abstract new (...args: never) => unknown, expected: string): Field => ({
  expected,
  isFit: (value) => value instanceof of,
})
/** Checked elsewhere, with its own errors. */
export const anything: Field = { expected: 'anything', isFit: () => true }

export const text: Field = { expected: 'a string', isFit: (value) => typeof value === 'string' }
export const flag: Field = { expected: 'true or false', isFit: (value) => typeof value === 'boolean' }
export const callback: Field = { expected: 'a function', isFit: (value) => typeof value === 'function' }
export const bytes = (min: number): Field =>
  whole(min, Number.MAX_SAFE_INTEGER, `a whole number of bytes, ${min} or more`)
export const seedField = whole(0, 0xffff_ffff)

/** An object with fields; `more` checks combinations of them. */
export const record = <T>(fields: Fields<T>, more?: (value: T, where: string) => void): Field => ({
  expected: 'an object',
  isFit: isRecord,
  inside(value: T, where) {
    checkOptions(where, value, fields)
    more?.(value, where)
  },
})
export const listOf = (each: Field): Field => ({
  expected: 'an array',
  isFit: Array.isArray,
  inside: (values: readonly unknown[], where) =>
    values.forEach((value, i) => checkField(`${where}[${i}]`, value, each)),
})

/**
 * Checks an object of options. `reasons` explain why options known elsewhere are not supported here.
 * @throws RangeError for a value out of range; TypeError for one of another type, and for an unknown name.
 */
export function checkOptions<T>(
  where: string,
  given: unknown,
  fields: Fields<T>,
  reasons: Readonly<Record<string, string>> = {},
): asserts given is T {
  if (!isRecord(given)) throw new TypeError(`${where}: expected an object, got ${show(given)}`)
  const unknown = Object.keys(given).find((name) => !Object.hasOwn(fields, name))
  if (unknown !== undefined) {
    const reason = Object.hasOwn(reasons, unknown) ? `${reasons[unknown]}; ` : ''
    throw new TypeError(`${where}: unknown '${unknown}'; ${reason}known are ${Object.keys(fields).join(', ')}`)
  }
  for (const [name, field] of Object.entries<Field>(fields)) checkField(`${where}.${name}`, given[name], field)
}

function checkField(where: string, value: unknown, { expected, type, isOptional, isFit, inside }: Field): void {
  if (isOptional && value === undefined) return
  if (isFit(value)) return inside?.(value as never, where)
  const Wrong = value !== null && typeof value === type ? RangeError : TypeError
  throw new Wrong(`${where}: expected ${expected}, got ${show(value)}`)
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Formats a value for an error. */
export function show(value: unknown): string {
  if (value === undefined) return 'undefined'
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return `[${value.map((each) => (Array.isArray(each) ? 'an array' : show(each))).join(',')}]`
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return String(value)
  const kind = Object.prototype.toString.call(value).slice(8, -1)
  return kind === 'Object' ? 'an object' : kind
}
