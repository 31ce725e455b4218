import { MAX_NAMESPACES } from '../admin/namespace-list.js'
import type { NamespaceIdentity } from '../bring-up/identity.js'
import { fit } from '../check-options.js'
import { DriverError } from '../error.js'
import { guardNamespace, type WriteRequest } from '../guard/guard.js'
import type { RunningController } from '../running/running-controller.js'
import { Namespace } from './namespace.js'
import { WritableNamespace } from './writable-namespace.js'

const checkNsid = fit('a number', (value) => typeof value === 'number')

/** A namespace and its last known Identify data. */
interface Known {
  readonly namespace: Namespace
  identity: NamespaceIdentity
}

/**
 * The namespaces of a controller. Each has one object for the lifetime of the handle, also while it is detached. If
 * more than `MAX_NAMESPACES` are detached, they get new objects when they are attached again.
 */
export class NamespaceSet {
  private readonly controller: RunningController
  private readonly write: WriteRequest | undefined
  /** By NSID, in increasing order. */
  private known = new Map<number, Known>()
  /** The list of the session that `known` reflects. */
  private seen: readonly NamespaceIdentity[] = []

  constructor(controller: RunningController, write: WriteRequest | undefined) {
    this.controller = controller
    this.write = write
  }

  /** Active namespaces, in increasing order of NSID. */
  get active(): readonly Namespace[] {
    this.update()
    return [...this.known.values()].filter(({ identity }) => identity.attached).map(({ namespace }) => namespace)
  }

  /**
   * Returns an active namespace.
   * @throws DriverError (NAMESPACE_NOT_FOUND), which lists the active ones; TypeError for anything but a number.
   */
  get(nsid: number): Namespace {
    checkNsid('nsid', nsid)
    const { active } = this
    const found = active.find((namespace) => namespace.nsid === nsid)
    if (found === undefined) throw namespaceNotFound(nsid, active)
    return found
  }

  /** Returns the namespace, or an object that cannot be read if it is not attached. */
  attachedOrNot(nsid: number): Namespace {
    const known = this.active.find((namespace) => namespace.nsid === nsid)
    if (known !== undefined) return known
    const raw = new DataView(new ArrayBuffer(0))
    const unsupported = 'it is not attached to this controller'
    const identity = { nsid, attached: false, blocks: 2 ** 32, blockBytes: 512, unsupported, raw }
    return new Namespace(this.controller, nsid, () => identity)
  }

  /** Applies the session's list of active namespaces if it is new. */
  private update(): void {
    const found = this.controller.session.namespaces
    if (found === this.seen) return
    this.seen = found
    const attached = new Set(found.map(({ nsid }) => nsid))
    for (const [nsid, known] of this.known) {
      if (attached.has(nsid)) continue
      known.identity = { ...known.identity, attached: false, unsupported: 'it is no longer attached' }
    }
    for (const identity of found) {
      const known = this.known.get(identity.nsid)
      if (known === undefined) this.known.set(identity.nsid, this.make(identity))
      else known.identity = identity
    }
    // A controller may list different namespaces each time.
    const isTooMany = this.known.size - found.length > MAX_NAMESPACES
    const kept = [...this.known].filter(([nsid]) => !isTooMany || attached.has(nsid))
    this.known = new Map(kept.sort(([one], [other]) => one - other))
  }

  private make(identity: NamespaceIdentity): Known {
    const { controller, write } = this
    const { nsid } = identity
    const identityNow = (): NamespaceIdentity => {
      this.update()
      return known.identity
    }
    const guard = (target: Namespace) =>
      guardNamespace(target, write!, { timeoutNs: controller.session.options.commandTimeoutNs })
    const namespace =
      write === undefined
        ? new Namespace(controller, nsid, identityNow)
        : new WritableNamespace(controller, nsid, identityNow, guard)
    const known: Known = { namespace, identity }
    return known
  }
}

/** No namespace with this NSID is active, or allocated if it is to be deleted. @param found NSIDs that are. */
export function namespaceNotFound(
  nsid: number,
  found: readonly { readonly nsid: number }[],
  wanted: 'active' | 'allocated' = 'active',
): DriverError {
  const listed = found.map((namespace) => namespace.nsid).join(', ')
  return new DriverError('ERR_GPUNVME_NAMESPACE_NOT_FOUND', 'not-found', `Namespace ${nsid} is not ${wanted}`, {
    facts: [`${wanted}: ${listed || 'none'}`],
  })
}
