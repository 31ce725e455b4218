/** Actions that release resources, in reverse order of their registration. */
export class Scope {
  private readonly actions: (() => unknown)[] = []

  /** Registers an action for the end of the scope. The last action that was registered runs first. */
  later(action: () => unknown): void {
    this.actions.push(action)
  }

  /** Runs all registered actions. Returns their errors. */
  async release(): Promise<unknown[]> {
    const errors: unknown[] = []
    for (const action of this.actions.splice(0).reverse()) {
      try {
        await action()
      } catch (error) {
        errors.push(error)
      }
    }
    return errors
  }
}

/**
 * Runs `work`, and releases its resources when it ends, whether it succeeds or not.
 * @throws the error of `work`, or otherwise the first error of the release
 */
export async function scoped<T>(work: (scope: Scope) => Promise<T>): Promise<T> {
  const scope = new Scope()
  let result: T
  try {
    result = await work(scope)
  } catch (error) {
    // The first error is the cause.
    await scope.release()
    throw error
  }
  const errors = await scope.release()
  if (errors.length > 0) throw errors[0]
  return result
}
