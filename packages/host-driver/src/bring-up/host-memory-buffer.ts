import {
  FID,
  HostMemoryBuffer as Feature,
  HostMemoryBufferDescriptor as Descriptor,
  IdentifyController,
  SetFeatures,
} from '@gpunvme/nvme-spec'
import type { DmaMemory, DmaSegment } from '@gpunvme/nvme-spec/transport'
import { hostView } from '../memory/reachable.js'
import type { Session, SetupStep } from './session.js'
import { tryFeature } from './try-feature.js'

/** Unit of HMPRE, HMMIN and HMMINDS. */
const UNIT_BYTES = 4096

/** Memory lent to the controller. */
interface Given {
  readonly pages: number
  readonly list: DmaMemory
  readonly entries: number
}

/**
 * Lends memory to a controller that requests a Host Memory Buffer, and takes it back before a shutdown (Base 2.3
 * §8.2.3). A reset ends the loan. Afterwards the same memory is lent again with its contents unchanged, so that MR
 * (Memory Return) may be set (§5.2.26.2.4).
 */
export class HostMemoryBuffer implements SetupStep {
  private readonly maxBytes: number
  private given: Given | undefined
  private wasEnabled = false
  private failed = false

  /** @param maxBytes upper limit, whatever the controller prefers. */
  constructor(maxBytes: number) {
    this.maxBytes = maxBytes
  }

  async apply(session: Session): Promise<void> {
    const { HMPRE } = IdentifyController.view(session.identity.raw)
    if (HMPRE === 0 || this.maxBytes === 0 || this.failed) return
    this.given ??= this.allocate(session)
    if (this.given === undefined) return
    const { pages, list, entries } = this.given
    const address = list.iovaAt(0)
    const values = {
      FID: FID.HOST_MEMORY_BUFFER,
      CDW11: Feature.CDW11.encode({ EHM: 1, MR: this.wasEnabled ? 1 : 0 }),
      CDW12: pages,
      CDW13: address % 2 ** 32,
      CDW14: Math.floor(address / 2 ** 32),
      CDW15: entries,
    }
    this.wasEnabled = await tryFeature(session, 'Host Memory Buffer', () => session.admin.execute(SetFeatures, values))
  }

  async undo({ admin }: Session): Promise<void> {
    if (!this.wasEnabled) return
    await admin.execute(SetFeatures, { FID: FID.HOST_MEMORY_BUFFER, CDW11: Feature.CDW11.encode({ EHM: 0 }) })
    this.wasEnabled = false
  }

  /** Allocates the preferred size, or half of it, and so on down to the smallest that the controller can use. */
  private allocate(session: Session): Given | undefined {
    const { pool, limits, identity } = session
    const { HMPRE, HMMIN, HMMINDS, HMMAXD } = IdentifyController.view(identity.raw)
    const { pageBytes } = limits
    const minBytes = Math.max(HMMIN * UNIT_BYTES, pageBytes)
    const list = pool.alloc(pageBytes, { contiguous: true, alignBytes: pageBytes })
    const maxEntries = Math.min(HMMAXD === 0 ? Infinity : HMMAXD, pageBytes / Descriptor.bytes)
    let reason = `hostMemoryBufferBytes allows ${this.maxBytes} bytes`
    let requestBytes = floor(Math.min(HMPRE * UNIT_BYTES, this.maxBytes), pageBytes)
    for (; requestBytes >= minBytes; requestBytes = floor(requestBytes / 2, pageBytes)) {
      let memory: DmaMemory
      try {
        memory = pool.alloc(requestBytes, { alignBytes: pageBytes })
      } catch (error) {
        reason = error instanceof Error ? error.message : String(error)
        continue
      }
      const runs = usableRuns(memory.segments, { pageBytes, minBytes: HMMINDS * UNIT_BYTES, maxEntries })
      const pages = runs.reduce((total, run) => total + run.pages, 0)
      if (pages * pageBytes >= minBytes) {
        const entry = Descriptor.view(hostView(list))
        runs.forEach(({ iova, pages: BSIZE }, index) => Object.assign(entry.at(index), { BADD: iova, BSIZE }))
        list.forDevice(0, list.lengthBytes)
        return { pages, list, entries: runs.length }
      }
      reason = `the controller can use ${pages * pageBytes} bytes of the allocated segments`
      pool.free(memory)
    }
    pool.free(list)
    this.failed = true
    const text = `no Host Memory Buffer: the controller needs at least ${minBytes} bytes, but ${reason}`
    session.hub.emit({ kind: 'notice', timeNs: session.transport.clock.now(), text })
    return undefined
  }
}

/** Returns runs of whole pages, the longest first, and no more than the controller accepts. */
function usableRuns(
  segments: readonly DmaSegment[],
  { pageBytes, minBytes, maxEntries }: { pageBytes: number; minBytes: number; maxEntries: number },
): { readonly iova: number; readonly pages: number }[] {
  return segments
    .map(({ iova, lengthBytes }) => {
      const first = Math.ceil(iova / pageBytes)
      return { iova: first * pageBytes, pages: Math.floor((iova + lengthBytes) / pageBytes) - first }
    })
    .filter(({ pages }) => pages > 0 && pages * pageBytes >= minBytes)
    .sort((a, b) => b.pages - a.pages)
    .slice(0, maxEntries)
}

function floor(bytes: number, unit: number): number {
  return Math.floor(bytes / unit) * unit
}
