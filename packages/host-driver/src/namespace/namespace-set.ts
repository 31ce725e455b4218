import { MAX_NAMESPACES } from '../admin/namespace-list.js'
import type { NamespaceIdentity } from '../bring-up/identity.js'
import { guardNamespace, type WriteRequest } from '../guard/guard.js'
import { NamespaceNotFoundError } from './errors.js'
import type { NamespaceHost } from './host.js'
import { Namespace } from './namespace.js'
import { WritableNamespace } from './writable-namespace.js'

/**
 * The namespaces of a controller. Each has one object for the lifetime of the handle, also while it is detached. If more than
 * `MAX_NAMESPACES` are detached, they get new objects when they are attached again.
 */
export class NamespaceSet {
  private readonly host: NamespaceHost
  private readonly write: WriteRequest | undefined
  private readonly guardTimeoutNs: number
  /** By NSID, in increasing order. */
  private known = new Map<number, Namespace>()

  /** @param guardTimeoutNs time limit of each read of the guard, before the first write. */
  constructor(host: NamespaceHost, write: WriteRequest | undefined, guardTimeoutNs: number) {
    this.host = host
    this.write = write
    this.guardTimeoutNs = guardTimeoutNs
  }

  /** Active namespaces, in increasing order of NSID. */
  get active(): readonly Namespace[] {
    return [...this.known.values()].filter(({ identity }) => identity.attached)
  }

  /** Returns an active namespace. @throws NamespaceNotFoundError, which lists the active ones. */
  get(nsid: number): Namespace {
    const { active } = this
    const found = active.find((namespace) => namespace.nsid === nsid)
    if (found === undefined) throw new NamespaceNotFoundError(nsid, active)
    return found
  }

  /** Returns the namespace, or an object that cannot be read if it is not attached. */
  attachedOrNot(nsid: number): Namespace {
    const known = this.active.find((namespace) => namespace.nsid === nsid)
    if (known !== undefined) return known
    const raw = new DataView(new ArrayBuffer(0))
    const unsupported = 'it is not attached to this controller'
    return new Namespace(this.host, { nsid, attached: false, blocks: 2 ** 32, blockBytes: 512, unsupported, raw })
  }

  /** Sets the active namespaces. */
  take(found: readonly NamespaceIdentity[]): void {
    const attached = new Set(found.map(({ nsid }) => nsid))
    for (const namespace of this.known.values()) {
      if (attached.has(namespace.nsid)) continue
      namespace.changeTo({ ...namespace.identity, attached: false, unsupported: 'it is no longer attached' })
    }
    for (const identity of found) {
      const known = this.known.get(identity.nsid)
      if (known === undefined) this.known.set(identity.nsid, this.make(identity))
      else known.changeTo(identity)
    }
    // A controller may list different namespaces each time.
    const isTooMany = this.known.size - found.length > MAX_NAMESPACES
    const kept = [...this.known].filter(([nsid]) => !isTooMany || attached.has(nsid))
    this.known = new Map(kept.sort(([one], [other]) => one - other))
  }

  private make(identity: NamespaceIdentity): Namespace {
    const { host, write, guardTimeoutNs } = this
    if (write === undefined) return new Namespace(host, identity)
    const guard = (target: Namespace) => guardNamespace(target, write, { timeoutNs: guardTimeoutNs })
    return new WritableNamespace(host, identity, guard)
  }
}
