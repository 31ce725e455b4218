import { shown } from './spec-ref.js'

declare const zeroBasedBrand: unique symbol

/**
 * A 0's based value as it stands on the wire: 0 means one. The brand keeps a plain count from being stored where
 * the wire wants count - 1, and the other way round; `zeroBased` and `countOf` are the only way between the two.
 */
export type ZeroBased = number & { readonly [zeroBasedBrand]: true }

/**
 * The wire's 0's based value of a count of at least one.
 * @throws RangeError for a count that is not a positive safe integer, TypeError for what is no number.
 */
export function zeroBased(count: number): ZeroBased {
  if (!Number.isSafeInteger(count) || count < 1) {
    const Kind = typeof count === 'number' ? RangeError : TypeError
    throw new Kind(`a 0's based field holds a count of at least 1, got ${shown(count)}`)
  }
  return (count - 1) as ZeroBased
}

/**
 * The count that a 0's based value stands for: one more than it is.
 * @throws TypeError for what is no number: text would be lengthened instead.
 */
export function countOf(value: ZeroBased): number {
  if (typeof value !== 'number') throw new TypeError(`expected a 0's based value, got ${shown(value)}`)
  return value + 1
}
