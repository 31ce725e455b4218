const refuse = (): never => {
  throw new TypeError("this list is the simulator's own: copy it to change it")
}

/**
 * A list as a caller sees it: it grows with what happens, and only the simulator changes it. A copy would be stale for
 * whoever takes it out of the simulation before the run, as tests do.
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
