/** Reason why a value is unknown, for reports: 'needs root: ...'. */
export interface Unknown {
  readonly unknown: string
}

/** A value that may be unknown. `undefined` means that it is known to be absent. */
export type Known<T> = T | Unknown

export function isKnown<T>(value: Known<T>): value is T {
  return !(typeof value === 'object' && value !== null && 'unknown' in value)
}

/** Returns the value, or `undefined` if it is unknown. */
export function valueOf<T>(value: Known<T>): T | undefined {
  return isKnown(value) ? value : undefined
}

export function unknown(reason: string): Unknown {
  return { unknown: reason }
}
