import { LoaderError } from '../error.js'
import { quote } from './quote.js'

/** Returns the error of an argument of a wrong kind, such as a model file where a model on a store is expected. */
export function invalidArgument(argument: string, expected: string, got: string, next?: string): LoaderError {
  return new LoaderError('ERR_GPUNVME_INVALID_ARGUMENT', 'usage', `${argument}: expected ${expected}, got ${got}`, {
    next,
  })
}

/** @throws LoaderError (INVALID_ARGUMENT) for a value that is not one of the allowed ones. */
export function requireOneOf(argument: string, value: unknown, allowed: readonly string[]): void {
  if (allowed.some((each) => each === value)) return
  const names = allowed.map((each) => `'${each}'`)
  throw invalidArgument(argument, `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`, describeValue(value))
}

/** Describes a wrong value for a message: strings are quoted, and objects named by their class. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return quote(value)
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'function') return 'a function'
  if (typeof value !== 'object' || value === null) return String(value)
  const name = (value.constructor as { name?: string } | undefined)?.name ?? ''
  return name === '' || name === 'Object' ? 'an object' : `an object of class ${name}`
}
