/** What could not be learnt, and why, in words for whoever reads the report: 'needs root: ...'. */
export interface Unknown {
  readonly unknown: string
}

/** Something that a machine may keep to itself. `undefined` where it says that there is none. */
export type Known<T> = T | Unknown

export function isKnown<T>(value: Known<T>): value is T {
  return !(typeof value === 'object' && value !== null && 'unknown' in value)
}

/** The value, or `undefined` of what is not known: for where both lead to the same. */
export function valueOf<T>(value: Known<T>): T | undefined {
  return isKnown(value) ? value : undefined
}

export function unknown(reason: string): Unknown {
  return { unknown: reason }
}
