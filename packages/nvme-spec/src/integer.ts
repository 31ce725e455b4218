import { shown } from './layout/spec-ref.js'

/**
 * Refuses an argument that is no integer from min to max: arithmetic would go on with it, and give a place or a size
 * that is none.
 * @throws TypeError for what is no number, RangeError for a number that is out of range or no integer.
 */
export function checkInteger(what: string, value: number, min: number, max = Number.MAX_SAFE_INTEGER): void {
  if (!(Number.isInteger(value) && value >= min && value <= max))
    refuseArgument(what, `an integer from ${min} to ${max}`, value)
}

/** Throws what `checkInteger` does, where more than a range is asked for. */
export function refuseArgument(what: string, expected: string, value: unknown): never {
  const Kind = typeof value === 'number' ? RangeError : TypeError
  throw new Kind(`${what}: expected ${expected}, got ${shown(value)}`)
}
