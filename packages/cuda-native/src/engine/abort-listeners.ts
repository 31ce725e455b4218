import type { AbortSignalLike } from '@gpunvme/nvme-spec/transport'

interface Group {
  readonly actions: Set<() => void>
  readonly listener: () => void
}

const nothing = () => undefined

/** One listener of each signal, for all plans that it may end: Node warns of a leak where a signal has more than ten. */
export class AbortListeners {
  private readonly groups = new Map<AbortSignalLike, Group>()

  /** Calls `action` once where the signal is aborted. @returns what ends that. */
  listen(signal: AbortSignalLike | undefined, action: () => void): () => void {
    if (signal === undefined) return nothing
    const group = this.groups.get(signal) ?? this.begin(signal)
    group.actions.add(action)
    return () => {
      if (!group.actions.delete(action) || group.actions.size > 0) return
      signal.removeEventListener('abort', group.listener)
      if (this.groups.get(signal) === group) this.groups.delete(signal)
    }
  }

  private begin(signal: AbortSignalLike): Group {
    const actions = new Set<() => void>()
    const listener = () => {
      this.groups.delete(signal)
      // One of them may end another's listening.
      for (const action of actions) if (actions.delete(action)) action()
    }
    signal.addEventListener('abort', listener, { once: true })
    const group = { actions, listener }
    this.groups.set(signal, group)
    return group
  }
}
