/**
 * Releases the resources of a transport that closes or cannot be opened: latest first, each once, all of them even
 * after an error.
 */
export class Cleanup {
  private actions: (() => void | Promise<void>)[] = []
  private running: Promise<void> | undefined

  /** Adds an action. @returns a function that runs it early, and only once. */
  push(action: () => void): () => void
  push(action: () => void | Promise<void>): () => void | Promise<void>
  push(action: () => void | Promise<void>): () => void | Promise<void> {
    this.actions.push(action)
    return () => {
      const index = this.actions.indexOf(action)
      if (index === -1) return
      this.actions.splice(index, 1)
      return action()
    }
  }

  /** Runs all actions. May be called twice. @throws the first error, after all were tried. */
  run(): Promise<void> {
    return (this.running ??= this.runAll())
  }

  private async runAll(): Promise<void> {
    const errors: unknown[] = []
    for (let action = this.actions.pop(); action !== undefined; action = this.actions.pop()) {
      try {
        await action()
      } catch (error) {
        errors.push(error)
      }
    }
    if (errors.length > 0) throw errors[0]
  }
}
