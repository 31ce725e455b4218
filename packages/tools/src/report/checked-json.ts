/** Returns a JSON value as a T. @throws UnfitValueError with its location for any other value. */
export type Check<T> = (value: unknown, at: string) => T

/** Type of the values that a check accepts. */
export type Passed<C> = C extends Check<infer T> ? T : never

/** Error of a value that does not match its place in the object. */
export class UnfitValueError extends Error {
  constructor(at: string, expected: string, value: unknown) {
    super(`${at === '' ? 'the file' : at}: expected ${expected}, got ${shown(value)}`)
  }
}

export function text(max: number): Check<string> {
  return (value, at) => {
    if (typeof value === 'string' && value.length <= max) return value
    throw new UnfitValueError(at, `a string of at most ${max} characters`, value)
  }
}

export function matching(pattern: RegExp, words: string): Check<string> {
  return (value, at) => {
    if (typeof value === 'string' && pattern.test(value)) return value
    throw new UnfitValueError(at, words, value)
  }
}

export function oneOf<const T extends string>(...names: readonly T[]): Check<T> {
  return (value, at) => {
    const found = names.find((name) => name === value)
    if (found !== undefined) return found
    throw new UnfitValueError(at, names.map((name) => `'${name}'`).join(' or '), value)
  }
}

export function number(min: number, max = Number.MAX_SAFE_INTEGER): Check<number> {
  return (value, at) => {
    if (typeof value === 'number' && value >= min && value <= max) return value
    throw new UnfitValueError(at, `a number from ${min} to ${max}`, value)
  }
}

export function whole(min: number, max = Number.MAX_SAFE_INTEGER): Check<number> {
  return (value, at) => {
    if (Number.isSafeInteger(value)) return number(min, max)(value, at)
    throw new UnfitValueError(at, `an integer from ${min} to ${max}`, value)
  }
}

export function list<T>(item: Check<T>, max: number): Check<readonly T[]> {
  return (value, at) => {
    if (!Array.isArray(value)) throw new UnfitValueError(at, 'an array', value)
    if (value.length > max) throw new UnfitValueError(at, `at most ${max} entries`, `${value.length}`)
    return value.map((entry, index) => item(entry, `${at}[${index}]`))
  }
}

export function pair<A, B>(first: Check<A>, second: Check<B>): Check<readonly [A, B]> {
  return (value, at) => {
    if (!Array.isArray(value) || value.length !== 2) throw new UnfitValueError(at, 'a pair', value)
    return [first(value[0], `${at}[0]`), second(value[1], `${at}[1]`)]
  }
}

type Checks = Readonly<Record<string, Check<unknown>>>
type Checked<C extends Checks> = { readonly [K in keyof C]: Passed<C[K]> }

/**
 * Checks an object with all of `required`, and `optional` members if present. Other members are dropped.
 * @param related checks relations between members.
 */
export function object<R extends Checks, O extends Checks = Record<never, never>>(
  required: R,
  optional?: O,
  related?: (passed: Checked<R> & Partial<Checked<O>>, at: string) => void,
): Check<Checked<R> & Partial<Checked<O>>> {
  return (value, at) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      throw new UnfitValueError(at, 'an object', value)
    const entries = new Map<string, unknown>(Object.entries(value))
    const place = (name: string) => (at === '' ? name : `${at}.${name}`)
    const passed = Object.entries(required).map(([name, check]) => [name, check(entries.get(name), place(name))])
    for (const [name, check] of Object.entries(optional ?? {})) {
      if (entries.has(name)) passed.push([name, check(entries.get(name), place(name))])
    }
    const whole = Object.fromEntries(passed) as Checked<R> & Partial<Checked<O>>
    related?.(whole, at)
    return whole
  }
}

const MAX_SHOWN = 60

function shown(value: unknown): string {
  if (value === undefined) return 'undefined'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'object' && value !== null) return 'an object'
  const json = JSON.stringify(value)
  return json.length > MAX_SHOWN ? `${json.slice(0, MAX_SHOWN)}…` : json
}
