/** Checks a value, and says what is wrong with it. `name` is what errors begin with. */
export type Check = (name: string, value: unknown) => void

/** A check for whatever makes `isFit` true. @throws TypeError */
export const fit =
  (expected: string, isFit: (value: unknown) => boolean): Check =>
  (name, value) => {
    if (!isFit(value)) throw new TypeError(`${name}: expected ${expected}, got ${show(value)}`)
  }

export const flag = fit('true or false', (value) => typeof value === 'boolean')
export const callback = fit('a function', (value) => typeof value === 'function')
export const object = fit('an object', isObject)

/** An object with methods: whoever makes one may use no class. */
export const having = (expected: string, methods: readonly string[]): Check =>
  fit(expected, (value) => isObject(value) && methods.every((method) => typeof value[method] === 'function'))

/** @throws RangeError for what is no whole number of nanoseconds: a comparison with NaN would never end a wait. */
export const timeout: Check = (name, value) => {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return
  throw new RangeError(`${name}: expected whole nanoseconds from 0 on, got ${show(value)}`)
}

/** As `timeout`, or Infinity. @throws RangeError */
export const timeoutOrNever: Check = (name, value) => {
  if (value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 0)) return
  throw new RangeError(`${name}: expected whole nanoseconds from 0 on or Infinity, got ${show(value)}`)
}

/** An array whose elements pass. @param of what they are, in words. */
export const listOf =
  (of: string, check: Check): Check =>
  (name, value) => {
    if (!Array.isArray(value)) throw new TypeError(`${name}: expected a list of ${of}, got ${show(value)}`)
    for (const [index, each] of value.entries()) check(`${name}[${index}]`, each)
  }

/** Where an engine is to be made. @throws TypeError */
export function checkTransport(given: unknown): void {
  if (isObject(given) && ['bar', 'clock'].every((name) => isObject(given[name]))) return
  const got = isObject(given) && 'transport' in given ? 'an object that has one: give its .transport' : show(given)
  throw new TypeError(`transport: expected a Transport, got ${got}`)
}

/**
 * Checks options, whoever made them. What is undefined is not given.
 * @param where what was called. @param checks one for every option: another is refused, which would be ignored otherwise.
 * @param needed those that must be given.
 * @throws TypeError, and what the checks throw.
 */
export function checkOptions<T>(
  where: string,
  given: T,
  checks: { readonly [K in keyof T]-?: Check },
  needed: readonly (keyof T & string)[] = [],
): void {
  if (!isObject(given)) throw new TypeError(`${where}: expected an object of options, got ${show(given)}`)
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(checks, name)) {
      throw new TypeError(`${where}: unknown '${name}'; known are ${Object.keys(checks).join(', ')}`)
    }
    if (value !== undefined) checks[name as keyof T](name, value)
  }
  for (const name of needed) if (given[name] === undefined) checks[name](name, undefined)
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A value as an error shows it. */
export function show(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return Object.prototype.toString.call(value).slice(8, -1)
  return `${value as number | boolean | null}`
}
