import { DriverError } from '../error.js'

/**
 * Keeps users of a namespace apart from operations that take it away. The later of the two is rejected; neither waits.
 */
export class NamespacesInUse {
  private readonly users = new Map<number, number>()
  private readonly taken = new Map<number, string>()

  /** Begins to use a namespace, until `leave`. @throws DriverError (NAMESPACE_BUSY) while the namespace is taken. */
  enter(nsid: number): void {
    const taker = this.taken.get(nsid)
    if (taker !== undefined) throw busy(nsid, `${taker} is in progress`)
    this.users.set(nsid, (this.users.get(nsid) ?? 0) + 1)
  }

  leave(nsid: number): void {
    this.users.set(nsid, this.users.get(nsid)! - 1)
  }

  /** Checks that namespaces are free. @throws DriverError (NAMESPACE_BUSY) while one of them is used or taken. */
  checkFree(nsids: readonly number[]): void {
    for (const nsid of nsids) {
      const users = this.users.get(nsid) ?? 0
      const taker = this.taken.get(nsid)
      if (users > 0) throw busy(nsid, `${users} of its transfers or commands are in progress`)
      if (taker !== undefined) throw busy(nsid, `${taker} is in progress`)
    }
  }

  /** Runs an action that takes namespaces away. @throws same as `checkFree`, before the action. */
  async taking<T>(nsids: readonly number[], what: string, action: () => Promise<T>): Promise<T> {
    this.checkFree(nsids)
    for (const nsid of nsids) this.taken.set(nsid, what)
    try {
      return await action()
    } finally {
      for (const nsid of nsids) this.taken.delete(nsid)
    }
  }
}

/** A namespace is in use and cannot be formatted, detached or deleted, or the other way round. Nothing was sent. */
function busy(nsid: number, reason: string): DriverError {
  return new DriverError('ERR_GPUNVME_NAMESPACE_BUSY', 'usage', `Namespace ${nsid} is busy: ${reason}`, {
    next: 'wait until that has ended, then repeat it',
  })
}
