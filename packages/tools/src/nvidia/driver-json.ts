import type { NvidiaDriver } from './driver-state.js'

/** Returns the state for JSON. Absent values are null, so that each object has all fields. */
export function driverJson(root: string, driver: NvidiaDriver) {
  return { root, ...(withNulls(driver) as WithNulls<NvidiaDriver>) }
}

type WithNulls<T> = T extends undefined
  ? null
  : T extends readonly (infer Item)[]
    ? readonly WithNulls<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: WithNulls<T[Key]> }
      : T

function withNulls(value: unknown): unknown {
  if (value === undefined) return null
  if (Array.isArray(value)) return value.map(withNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNulls(each)]))
}
