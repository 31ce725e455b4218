import { GpuNvmeError } from '@gpunvme/nvme-spec'

/**
 * Keeps users of a namespace apart from operations that take it away. The later of the two is rejected; neither waits.
 */
export class NamespacesInUse {
  private readonly users = new Map<number, number>()
  private readonly taken = new Map<number, string>()

  /** Begins to use a namespace, until `leave`. @throws NamespaceBusyError while the namespace is taken. */
  enter(nsid: number): void {
    const taker = this.taken.get(nsid)
    if (taker !== undefined) throw new NamespaceBusyError(nsid, `${taker} is in progress`)
    this.users.set(nsid, (this.users.get(nsid) ?? 0) + 1)
  }

  leave(nsid: number): void {
    this.users.set(nsid, this.users.get(nsid)! - 1)
  }

  /** Checks that namespaces are free. @throws NamespaceBusyError while one of them is used or taken. */
  checkFree(nsids: readonly number[]): void {
    for (const nsid of nsids) {
      const users = this.users.get(nsid) ?? 0
      const taker = this.taken.get(nsid)
      if (users > 0) throw new NamespaceBusyError(nsid, `${users} of its transfers or commands are in progress`)
      if (taker !== undefined) throw new NamespaceBusyError(nsid, `${taker} is in progress`)
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
export class NamespaceBusyError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NAMESPACE_BUSY'
  readonly category = 'usage'
  constructor(nsid: number, reason: string) {
    super(`Namespace ${nsid} is busy: ${reason}`, { next: 'wait until that has ended, then repeat it' })
  }
}
