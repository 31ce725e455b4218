import type { AbortSignalLike } from '../transport/index.js'

interface Group {
  readonly actions: Set<() => void>
  readonly listener: () => void
}

const nothing = () => undefined

/** Adds one listener to a signal for any number of actions: Node warns of a leak if a signal has more than ten. */
export class AbortListeners {
  private readonly groups = new Map<AbortSignalLike, Group>()

  /** Calls `action` once when the signal is aborted. @returns a function that removes the action */
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
      // An action may remove another one.
      for (const action of actions) if (actions.delete(action)) action()
    }
    signal.addEventListener('abort', listener, { once: true })
    const group = { actions, listener }
    this.groups.set(signal, group)
    return group
  }
}
