/** A promise with its resolve and reject functions. */
export interface Deferred<T> {
  readonly promise: Promise<T>
  resolve(value: T): void
  reject(reason: unknown): void
}

/** Creates a deferred promise. A rejection without a listener is not reported as unhandled. */
export function deferred<T>(): Deferred<T> {
  let resolve!: (value: T) => void
  let reject!: (reason: unknown) => void
  const promise = new Promise<T>((...settle) => ([resolve, reject] = settle))
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}
