/** Returns a deeply frozen copy; bytes, which cannot be frozen, are shared. */
export function frozenCopy<T>(value: T): T {
  if (Array.isArray(value)) return Object.freeze(value.map(frozenCopy)) as T
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  return Object.freeze(Object.fromEntries(Object.entries(value).map(([name, each]) => [name, frozenCopy(each)]))) as T
}
