import type { NvidiaDriver } from './driver-state.js'

/** Returns the state for JSON. Absent values are null, so that each object has all fields. */
export function driverJson(root: string, driver: NvidiaDriver): object {
  return { root, ...(withNulls(driver) as object) }
}

function withNulls(value: unknown): unknown {
  if (value === undefined) return null
  if (Array.isArray(value)) return value.map(withNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, withNulls(each)]))
}
