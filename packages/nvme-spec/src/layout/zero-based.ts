import { shown } from './spec-ref.js'

declare const zeroBasedBrand: unique symbol

/**
 * A 0's based value as on the wire: 0 means one. The brand prevents storing a plain count where the wire needs count -
 * 1, and vice versa. Convert only with `zeroBased` and `countOf`.
 */
export type ZeroBased = number & { readonly [zeroBasedBrand]: true }

/**
 * Returns the 0's based value of a count of at least one.
 * @throws RangeError if the count is not a positive safe integer, TypeError if it is not a number.
 */
export function zeroBased(count: number): ZeroBased {
  if (!Number.isSafeInteger(count) || count < 1) {
    const Kind = typeof count === 'number' ? RangeError : TypeError
    throw new Kind(`a 0's based field holds a count of at least 1, got ${shown(count)}`)
  }
  return (count - 1) as ZeroBased
}

/**
 * Returns the count of a 0's based value: one more than the value.
 * @throws TypeError if it is not a number: `+ 1` would append to a string.
 */
export function countOf(value: ZeroBased): number {
  if (typeof value !== 'number') throw new TypeError(`expected a 0's based value, got ${shown(value)}`)
  return value + 1
}
