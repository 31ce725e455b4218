/**
 * Admits many commands, or one exclusive action such as a recovery, during which no command is in progress. No command
 * enters while an exclusive action waits.
 */
export class Gate {
  private inside = 0
  private closed: Promise<void> | undefined
  private emptied: (() => void) | undefined

  /** Whether commands must wait. */
  get isClosed(): boolean {
    return this.closed !== undefined
  }

  /** Enters at once, or returns a promise of entering. The caller must call `leave` afterwards. */
  enter(): Promise<void> | undefined {
    if (this.closed !== undefined) return this.waitAndEnter()
    this.inside++
    return undefined
  }

  leave(): void {
    this.inside--
    if (this.inside === 0) this.emptied?.()
  }

  /** Closes the gate at once, waits until all have left, and opens it again after `action`. */
  async alone<T>(action: () => Promise<T>): Promise<T> {
    while (this.closed !== undefined) await this.closed
    let open!: () => void
    this.closed = new Promise((resolve) => {
      open = resolve
    })
    try {
      if (this.inside > 0) {
        await new Promise<void>((resolve) => {
          this.emptied = resolve
        })
      }
      return await action()
    } finally {
      this.emptied = undefined
      this.closed = undefined
      open()
    }
  }

  private async waitAndEnter(): Promise<void> {
    while (this.closed !== undefined) await this.closed
    this.inside++
  }
}
