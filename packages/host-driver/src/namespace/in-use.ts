import { GpuNvmeError } from '@gpunvme/nvme-spec'

/** Keeps apart those who use a namespace, and those who take it away from under them. Nobody waits: the later is refused. */
export class NamespacesInUse {
  private readonly users = new Map<number, number>()
  private readonly taken = new Map<number, string>()

  /** @throws NamespaceBusyError while the namespace is taken. */
  async during<T>(nsid: number, action: () => Promise<T>): Promise<T> {
    const taker = this.taken.get(nsid)
    if (taker !== undefined) throw new NamespaceBusyError(nsid, `${taker} is under way`)
    this.users.set(nsid, (this.users.get(nsid) ?? 0) + 1)
    try {
      return await action()
    } finally {
      this.users.set(nsid, this.users.get(nsid)! - 1)
    }
  }

  /** @throws NamespaceBusyError while one of the namespaces is used or taken. */
  checkFree(nsids: readonly number[]): void {
    for (const nsid of nsids) {
      const users = this.users.get(nsid) ?? 0
      const taker = this.taken.get(nsid)
      if (users > 0) throw new NamespaceBusyError(nsid, `${users} transfers or commands of it are under way`)
      if (taker !== undefined) throw new NamespaceBusyError(nsid, `${taker} is under way`)
    }
  }

  /** @throws as `checkFree`; nothing was done then. */
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

/** A namespace is to be formatted, detached or deleted while it is used, or to be used meanwhile. Nothing was sent. */
export class NamespaceBusyError extends GpuNvmeError {
  readonly code = 'ERR_GPUNVME_NAMESPACE_BUSY'
  readonly category = 'usage'
  constructor(nsid: number, reason: string) {
    super(`Namespace ${nsid} is busy: ${reason}`, { next: 'wait until that has ended' })
  }
}
