const refuse = (): never => {
  throw new TypeError('this list is read-only: copy it to change it')
}

/**
 * A read-only list for callers that grows as the simulation runs. A copy would become stale for callers that take it
 * out of the simulation before the run, as tests do.
 */
export function liveView<T>(list: readonly T[]): readonly T[] {
  return new Proxy(list, {
    set: refuse,
    defineProperty: refuse,
    deleteProperty: refuse,
    setPrototypeOf: refuse,
    preventExtensions: refuse,
  })
}
