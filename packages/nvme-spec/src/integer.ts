import { shown } from './layout/facts.js'

/**
 * Throws if an argument is not an integer from min to max; arithmetic would silently produce an invalid offset or size.
 * @throws TypeError if it is not a number, RangeError if it is out of range or not an integer.
 */
export function checkInteger(what: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): void {
  if (!(Number.isInteger(value) && value >= min && value <= max))
    refuseArgument(what, `an integer from ${min} to ${max}`, value)
}

/** Throws the error of `checkInteger`, for checks other than a range. */
export function refuseArgument(what: string, expected: string, value: unknown): never {
  const Kind = typeof value === 'number' ? RangeError : TypeError
  throw new Kind(`${what}: expected ${expected}, got ${shown(value)}`)
}
