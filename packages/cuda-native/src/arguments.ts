/** Throws if a value is invalid. Errors start with `name`. */
export type Check = (name: string, value: unknown) => void

/** Returns a check that accepts values for which `isFit` returns true. @throws TypeError */
export const fit =
  (expected: string, isFit: (value: unknown) => boolean): Check =>
  (name, value) => {
    if (!isFit(value)) throw new TypeError(`${name}: expected ${expected}, got ${show(value)}`)
  }

export const flag = fit('true or false', (value) => typeof value === 'boolean')
export const callback = fit('a function', (value) => typeof value === 'function')
export const object = fit('an object', isObject)

/** Returns a check for objects with these methods, of any class. */
export const having = (expected: string, methods: readonly string[]): Check =>
  fit(expected, (value) => isObject(value) && methods.every((method) => typeof value[method] === 'function'))

/** Accepts whole nanoseconds. A comparison with NaN would never end a wait. @throws RangeError */
export const timeout: Check = (name, value) => {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return
  throw new RangeError(`${name}: expected nanoseconds as a whole number of 0 or more, got ${show(value)}`)
}

/** Like `timeout`, but also accepts Infinity. @throws RangeError */
export const timeoutOrNever: Check = (name, value) => {
  if (value === Infinity || (Number.isSafeInteger(value) && (value as number) >= 0)) return
  throw new RangeError(`${name}: expected nanoseconds as a whole number of 0 or more, or Infinity, got ${show(value)}`)
}

/** Returns a check for arrays whose elements pass `check`. @param of description of the elements, for errors. */
export const listOf =
  (of: string, check: Check): Check =>
  (name, value) => {
    if (!Array.isArray(value)) throw new TypeError(`${name}: expected an array of ${of}, got ${show(value)}`)
    for (const [index, each] of value.entries()) check(`${name}[${index}]`, each)
  }

/** Checks the transport of a new engine. @throws TypeError */
export function checkTransport(given: unknown): void {
  if (isObject(given) && ['bar', 'clock'].every((name) => isObject(given[name]))) return
  const got = isObject(given) && 'transport' in given ? 'an object with a transport: pass its .transport' : show(given)
  throw new TypeError(`transport: expected a Transport, got ${got}`)
}

/**
 * Checks an options object. Properties that are undefined count as absent.
 * @param where name of the called function. @param checks one per option; unknown options are rejected.
 * @param needed names of required options.
 * @throws TypeError, and errors of the checks.
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

export function isPowerOfTwo(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 2 && Number.isInteger(Math.log2(value))
}

/** Formats a value for an error message. */
export function show(value: unknown): string {
  if (value === undefined) return 'undefined'
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return Object.prototype.toString.call(value).slice(8, -1)
  return `${value as number | boolean | null}`
}
