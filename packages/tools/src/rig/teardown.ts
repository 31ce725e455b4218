/** Resources to release in reverse order of acquisition. */
export class Teardown {
  private steps: (() => void | Promise<void>)[] = []
  private ending: Promise<void> | undefined

  add(release: () => void | Promise<void>): void {
    this.steps.push(release)
  }

  /** Releases everything, even after a failure. Idempotent. @throws the first failure */
  run(): Promise<void> {
    return (this.ending ??= this.releaseAll())
  }

  /** Releases everything after a failure. @throws the failure, regardless of later ones */
  async undo(failure: unknown): Promise<never> {
    await Promise.allSettled([this.run()])
    throw failure
  }

  private async releaseAll(): Promise<void> {
    const failures: unknown[] = []
    for (const release of this.steps.splice(0).reverse()) {
      try {
        await release()
      } catch (error) {
        failures.push(error)
      }
    }
    if (failures.length > 0) throw failures[0]
  }
}
