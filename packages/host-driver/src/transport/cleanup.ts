/** What is to be given back when a transport ends or cannot be opened: the latest first, each once, all of it tried. */
export class Cleanup {
  private actions: (() => void | Promise<void>)[] = []
  private running: Promise<void> | undefined

  /** Adds one. @returns what does it ahead of time, and then not again. */
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

  /** Doing it twice is harmless. @throws what failed first, when everything was tried. */
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
