import { CQE, cqHeadDoorbell, SQE, sqTailDoorbell } from '@gpunvme/nvme-spec'
import type { DmaMemory, Transport } from '@gpunvme/nvme-spec/transport'

/** One queue pair, as plain as it gets: entries are written, rung, and taken back in whatever order they complete. */
export class Ring {
  readonly sq: DmaMemory
  readonly cq: DmaMemory
  /** Where the next entry goes. */
  readonly data: DataView
  private readonly bar: Transport['bar']
  private readonly entries: number
  private readonly tailDoorbell: number
  private readonly headDoorbell: number
  private readonly cqe
  private tail = 0
  private head = 0
  private phase = 1

  constructor({ bar, dma }: Transport, qid: number, entries: number, dstrd: number) {
    this.sq = dma.alloc(entries * SQE.bytes, { contiguous: true })
    this.cq = dma.alloc(entries * CQE.bytes, { contiguous: true })
    this.data = this.sq.view!
    this.bar = bar
    this.entries = entries
    this.tailDoorbell = sqTailDoorbell(qid, dstrd)
    this.headDoorbell = cqHeadDoorbell(qid, dstrd)
    this.cqe = CQE.view(this.cq.view!)
  }

  get tailBytes(): number {
    return this.tail * SQE.bytes
  }

  /** Submits the entry that stands at `tailBytes`. */
  ring(): void {
    this.tail = (this.tail + 1) % this.entries
    this.bar.write32(this.tailDoorbell, this.tail)
  }

  /** Takes one completion: its CID, or -1 when there is none. */
  take(): number {
    const { cqe } = this
    const status = cqe.at(this.head).STATUS
    if ((status & 1) !== this.phase) return -1
    if (status >> 1 !== 0) throw new Error(`calibration: a command failed with status ${(status >> 1).toString(16)}`)
    const { CID } = cqe
    this.head = (this.head + 1) % this.entries
    if (this.head === 0) this.phase ^= 1
    return CID
  }

  /** Gives the entries of what was taken back. */
  release(): void {
    this.bar.write32(this.headDoorbell, this.head)
  }
}
