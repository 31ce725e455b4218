import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'

/** Checks the value of an option. Errors begin with `name`. */
export type Check = (name: string, value: unknown) => void

/** One check for each name of the type, so that no option is forgotten. */
export type Checks<T> = { readonly [K in keyof T]-?: Check }

/** Returns a check that passes if `isFit` returns true. @throws TypeError */
export const fit =
  (expected: string, isFit: (value: unknown) => boolean): Check =>
  (name, value) => {
    if (!isFit(value)) throw new TypeError(`${name}: expected ${expected}, got ${show(value)}`)
  }

export const flag = fit('true or false', (value) => typeof value === 'boolean')
export const text = fit('a string', (value) => typeof value === 'string')
export const callback = fit('a function', (value) => typeof value === 'function')
export const object = fit('an object', isObject)
/** No check here: the function that uses the value checks it, with its own errors. */
export const anything: Check = () => undefined

/**
 * Returns a check for a number that passes if `isFit` returns true.
 * @throws TypeError for anything but a number; RangeError for any other number.
 */
export const number =
  (expected: string, isFit: (value: number) => boolean): Check =>
  (name, value) => {
    if (typeof value === 'number' && isFit(value)) return
    const Wrong = typeof value === 'number' ? RangeError : TypeError
    throw new Wrong(`${name}: expected ${expected}, got ${show(value)}`)
  }

/** Returns a check for an integer in a range. @throws same as `number`. */
export const integer = (from: number, to: number, expected = `an integer from ${from} to ${to}`): Check =>
  number(expected, (value) => Number.isSafeInteger(value) && value >= from && value <= to)

/** Checks a time-out: NaN, for example, would never end a wait. */
export const timeout = number('a finite number of nanoseconds above 0', (value) => Number.isFinite(value) && value > 0)

export const oneOf = (...values: readonly string[]): Check =>
  fit(`one of ${values.map(show).join(', ')}`, (value) => values.includes(value as string))

/** Returns a check for an object with these methods: a transport or an engine need not be a class. */
export const having = (expected: string, methods: readonly string[]): Check =>
  fit(expected, (value) => isObject(value) && methods.every((method) => typeof value[method] === 'function'))

/** Returns a check for a list. @param of description of the elements, for errors. */
export const listOf =
  (of: string, check: Check): Check =>
  (name, value) => {
    if (!Array.isArray(value)) throw new TypeError(`${name}: expected a list of ${of}, got ${show(value)}`)
    for (const [index, each] of value.entries()) check(`${name}[${index}]`, each)
  }

/** Returns a check for an object that contains options. */
export const record =
  <T>(checks: Checks<T>): Check =>
  (name, value) =>
    checkOptions(name, value, checks, `${name}.`)

const signal = fit('an AbortSignal', (value) =>
  isObject(value) && typeof value['aborted'] === 'boolean' && typeof value['addEventListener'] === 'function')

/** Options that every command accepts. */
export const limits: Checks<{ signal?: AbortSignalLike | undefined; timeoutNs?: number | undefined }> = {
  signal,
  timeoutNs: timeout,
}

/**
 * Checks options at run time. A value of undefined counts as not given.
 * @param where the called function, for errors.
 * @param prefix of option names in errors.
 * @throws TypeError for an unknown name, and for a value of another type; RangeError for a value out of range.
 */
export function checkOptions<T>(where: string, given: unknown, checks: Checks<T>, prefix = ''): void {
  if (given === undefined) return
  if (!isObject(given)) throw new TypeError(`${where}: expected an object of options, got ${show(given)}`)
  for (const name of Object.keys(given)) {
    if (!Object.hasOwn(checks, name)) {
      throw new TypeError(`${where}: unknown '${name}'; known are ${Object.keys(checks).join(', ')}`)
    }
    const value = given[name]
    if (value !== undefined) checks[name as keyof T](prefix + name, value)
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns a value as errors show it. */
export function show(value: unknown): string {
  if (value === undefined) return 'undefined'
  if (typeof value === 'string') return `'${value}'`
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return 'a list'
  if (typeof value === 'object' && value !== null) return Object.prototype.toString.call(value).slice(8, -1)
  return `${value as number | boolean | null}`
}
