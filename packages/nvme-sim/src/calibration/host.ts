import {
  ACQ,
  AQA,
  ASQ,
  CAP,
  CC,
  CreateIoCq,
  CreateIoSq,
  CSTS,
  Read,
  Write,
  zeroBased,
  type ZeroBased,
} from '@gpunvme/nvme-spec'
import type { Clock, DmaMemory, Transport } from '@gpunvme/nvme-spec/transport'
import { unverifiableMedia } from '../media/unverifiable.js'
import type { DriveProfile } from '../profiles/profile.js'
import type { Workload } from '../profiles/published.js'
import { simulate } from '../simulate.js'
import { Ring } from './ring.js'

const PAGE_BYTES = 4096
const BLOCK_BYTES = 512
const QID = 1

/** A host that runs one workload: every command the same, into the same memory, next to no time between them. */
export class CalibrationHost {
  readonly clock: Clock
  private readonly ring: Ring
  private readonly entry
  private readonly isRead: boolean
  private readonly NLB: ZeroBased
  private readonly data: DmaMemory
  private readonly PRP2: number
  private readonly hostCommandNs: number
  private freeNs = 0
  private submitted = 0

  /** A fresh simulator of the profile, brought up, with one queue pair for the workload. */
  static async open(profile: DriveProfile, workload: Workload): Promise<CalibrationHost> {
    const { transport } = simulate({
      profile,
      namespaces: [{ blockBytes: BLOCK_BYTES, media: unverifiableMedia({ capacityBytes: 2 ** 40 }) }],
    })
    const { DSTRD } = CAP.decode(transport.bar.read64(CAP.offset))
    const admin = new Ring(transport, 0, 4, DSTRD)
    await enable(transport, admin)
    const entries = workload.depth + 1
    const ring = new Ring(transport, QID, entries, DSTRD)
    const queue = { QID, QSIZE: zeroBased(entries), PC: 1 } as const
    CreateIoCq.encode(admin.data, admin.tailBytes, { ...queue, PRP1: ring.cq.iovaAt(0) })
    await complete(transport, admin)
    CreateIoSq.encode(admin.data, admin.tailBytes, { ...queue, CQID: QID, PRP1: ring.sq.iovaAt(0) })
    await complete(transport, admin)
    return new CalibrationHost(transport, ring, workload)
  }

  private constructor(transport: Transport, ring: Ring, { operation, blockBytes, hostCommandNs = 0 }: Workload) {
    this.clock = transport.clock
    this.ring = ring
    this.isRead = operation === 'read'
    // What is used here stands in the same place in both commands.
    this.entry = (this.isRead ? Read : Write).view(ring.data)
    this.NLB = zeroBased(blockBytes / BLOCK_BYTES)
    this.data = transport.dma.alloc(blockBytes, { contiguous: true })
    this.PRP2 = secondPrp(transport, this.data)
    this.hostCommandNs = hostCommandNs
  }

  /** Submits one more command, when the host has the time for it. */
  async submit(): Promise<void> {
    const { clock, ring, entry } = this
    if (this.hostCommandNs > 0) {
      this.freeNs = Math.max(this.freeNs, clock.now()) + this.hostCommandNs
      while (clock.now() < this.freeNs) await clock.idle(this.freeNs)
    }
    entry.at(ring.tailBytes / 64).begin(this.submitted++ & 0xffff)
    entry.NSID = 1
    entry.PRP1 = this.data.iovaAt(0)
    entry.PRP2 = this.PRP2
    entry.SLBA = 0
    entry.NLB = this.NLB
    ring.ring()
  }

  /** Waits for completions, and calls `completed` with the CID of each. Returns how many there were. */
  async collect(completed: (cid: number) => void): Promise<number> {
    const { ring, clock } = this
    for (let count = 0; ;) {
      for (let cid = ring.take(); cid >= 0; cid = ring.take()) {
        completed(cid)
        count++
      }
      if (count > 0) {
        ring.release()
        return count
      }
      await clock.idle(Infinity)
    }
  }
}

async function enable({ bar, clock }: Transport, { sq, cq }: Ring): Promise<void> {
  const depth = zeroBased(4)
  bar.write32(AQA.offset, AQA.encode({ ASQS: depth, ACQS: depth }))
  bar.write64(ASQ.offset, BigInt(sq.iovaAt(0)))
  bar.write64(ACQ.offset, BigInt(cq.iovaAt(0)))
  const configuration = { CSS: CC.CSS.NVM, IOSQES: 6, IOCQES: 4 } as const
  bar.write32(CC.offset, CC.encode({ ...configuration, EN: 1 }))
  while (CSTS.RDY.of(bar.read32(CSTS.offset)) === 0) await clock.idle(Infinity)
}

/** Submits the Admin command at the ring's tail and waits for it. */
async function complete({ clock }: Transport, admin: Ring): Promise<void> {
  admin.ring()
  while (admin.take() < 0) await clock.idle(Infinity)
  admin.release()
}

/** PRP2 for the whole of `data`: nothing, the second page, or a list of all pages but the first. */
function secondPrp({ dma }: Transport, data: DmaMemory): number {
  const pages = Math.ceil(data.lengthBytes / PAGE_BYTES)
  if (pages <= 2) return pages === 2 ? data.iovaAt(PAGE_BYTES) : 0
  const listPages = Math.ceil((pages - 1) / 511)
  const list = dma.alloc(listPages * PAGE_BYTES, { contiguous: true })
  let slot = 0
  const put = (iova: number) => list.view!.setBigUint64(8 * slot++, BigInt(iova), true)
  for (let page = 1; page < pages; page++) {
    // The last entry of a list's page says where the list goes on.
    if (slot % 512 === 511 && page < pages - 1) put(list.iovaAt(8 * slot + 8))
    put(data.iovaAt(page * PAGE_BYTES))
  }
  return list.iovaAt(0)
}
