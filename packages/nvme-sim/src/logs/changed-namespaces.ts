import { AEI_NOTICE, AET, ChangedAttachedNamespaceList, LID } from '@gpunvme/nvme-spec'
import type { AsyncEvents } from '../admin/events.js'

const ENTRIES = 1024
/** First entry of a list that would be too long. */
const TOO_MANY = 0xffff_ffff

/** Attached namespaces that have changed since the host last read the log page (Base 2.3 §5.2.12.1.5). */
export class ChangedNamespaces {
  private readonly nsids = new Set<number>()

  add(nsid: number): void {
    this.nsids.add(nsid)
  }

  clear(): void {
    this.nsids.clear()
  }

  /** Raises the notice, if there is something to read. */
  announce(events: AsyncEvents): void {
    if (this.nsids.size === 0) return
    events.raise(AET.NOTICE, AEI_NOTICE.ATTACHED_NAMESPACE_ATTRIBUTE_CHANGED, LID.CHANGED_ATTACHED_NAMESPACE_LIST)
  }

  /** The log page: the identifiers in increasing order. */
  page(): DataView {
    const NSID = new Uint32Array(ENTRIES)
    if (this.nsids.size > ENTRIES) NSID[0] = TOO_MANY
    else NSID.set([...this.nsids].sort((a, b) => a - b))
    return ChangedAttachedNamespaceList.create({ NSID }).data
  }
}
