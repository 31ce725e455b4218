import { Namespace, type NamespaceOptions } from './namespace.js'

/** The NSID for all namespaces, or for none in particular (Base 2.1 §3.2.1). */
export const BROADCAST_NSID = 0xffff_ffff

/** Number of namespaces that may be created in addition to the initial ones, if there is spare capacity. */
const SPARE_NAMESPACES = 16

/** The namespaces of the NVM subsystem: allocated ones, and those attached to its only controller. */
export class Namespaces {
  /** Allocated namespaces, in increasing order of NSID. */
  allocated: readonly Namespace[]
  /** Attached namespaces, in increasing order of NSID. */
  active: readonly Namespace[] = []
  /** The largest valid NSID, and the maximum number of namespaces. */
  readonly NN: number
  /** NVM capacity: total and unallocated (TNVMCAP, UNVMCAP). */
  readonly totalBytes: number
  unallocatedBytes: number
  private byNsid: ReadonlyMap<number, Namespace> = new Map()
  private generation = 0

  /** @throws RangeError if two have the same NSID, and as `Namespace`. */
  constructor(options: readonly NamespaceOptions[], spareCapacityBytes = 0) {
    this.allocated = options.map((each) => new Namespace(each))
    const nsids = this.allocated.map(({ nsid }) => nsid)
    const twice = nsids.find((nsid, index) => nsids.indexOf(nsid) < index)
    if (twice !== undefined) {
      throw new RangeError(`namespaces: NSID ${twice} is used twice; give each namespace its own nsid`)
    }
    this.NN =
      this.allocated.reduce((max, { nsid }) => Math.max(max, nsid), 0) + (spareCapacityBytes > 0 ? SPARE_NAMESPACES : 0)
    this.unallocatedBytes = spareCapacityBytes
    this.totalBytes = this.allocated.reduce((sum, { capacityBytes }) => sum + capacityBytes, spareCapacityBytes)
    this.update()
  }

  /** Returns the active namespace of an NSID. */
  get(nsid: number): Namespace | undefined {
    return this.byNsid.get(nsid)
  }

  /** Returns the namespace of an NSID, attached or not. */
  getAllocated(nsid: number): Namespace | undefined {
    return this.allocated.find((each) => each.nsid === nsid)
  }

  /** Whether an NSID is valid, active or not (Base 2.1 §3.2.1). */
  isValid(nsid: number): boolean {
    return nsid >= 1 && nsid <= this.NN
  }

  /** The smallest unallocated NSID; undefined if there is none. */
  get freeNsid(): number | undefined {
    for (let nsid = 1; nsid <= this.NN; nsid++) if (this.getAllocated(nsid) === undefined) return nsid
    return undefined
  }

  /** Creates a namespace from unallocated capacity, without attaching it. */
  create(options: NamespaceOptions & { readonly capacityBytes: number }, isShared: boolean): Namespace {
    const namespace = new Namespace({ ...options, attached: false }, ++this.generation, isShared)
    this.unallocatedBytes -= namespace.capacityBytes
    this.allocated = [...this.allocated, namespace]
    this.update()
    return namespace
  }

  /** Deletes a namespace with its data; its capacity becomes unallocated. */
  delete(namespace: Namespace): void {
    namespace.media.close()
    namespace.isAttached = false
    this.unallocatedBytes += namespace.capacityBytes
    this.allocated = this.allocated.filter((each) => each !== namespace)
    this.update()
  }

  /** Attaches a namespace to the controller, or detaches it. */
  setAttached(namespace: Namespace, isAttached: boolean): void {
    namespace.isAttached = isAttached
    this.update()
  }

  private update(): void {
    this.allocated = [...this.allocated].sort((a, b) => a.nsid - b.nsid)
    this.active = this.allocated.filter((each) => each.isAttached)
    this.byNsid = new Map(this.active.map((each) => [each.nsid, each]))
  }
}
