import type { DmaMemory, Transport } from '@gpunvme/nvme-spec/transport'

const CC = 0x14
const CSTS = 0x1c
const AQA = 0x24
const ASQ = 0x28
const ACQ = 0x30

/** A host of a few lines, for tests that are about the transport and not about a driver. It waits in virtual time. */
export class BareHost {
  readonly transport: Transport
  readonly sq: DmaMemory
  readonly cq: DmaMemory
  private tail = 0
  private head = 0
  private phase = 1
  private readonly entries: number

  constructor(transport: Transport, entries = 4) {
    this.transport = transport
    this.entries = entries
    this.sq = transport.dma.alloc(4096, { contiguous: true })
    this.cq = transport.dma.alloc(4096, { contiguous: true })
  }

  get status(): number {
    return this.transport.bar.read32(CSTS)
  }

  configure(): void {
    const { bar } = this.transport
    bar.write32(AQA, (this.entries - 1) * 0x1_0001)
    bar.write64(ASQ, BigInt(this.sq.iovaAt(0)))
    bar.write64(ACQ, BigInt(this.cq.iovaAt(0)))
    bar.write32(CC, 0x0046_0001)
  }

  async enable(): Promise<this> {
    this.configure()
    if (!(await this.settles(() => (this.status & 1) === 1))) throw new Error('CSTS.RDY did not become 1')
    return this
  }

  /** Polls every millisecond; false where it is not so after a virtual second. */
  async settles(isSo: () => boolean): Promise<boolean> {
    const { clock } = this.transport
    const untilNs = clock.now() + 1e9
    while (!isSo()) {
      if (clock.now() >= untilNs) return false
      const nextNs = clock.now() + 1e6
      while (clock.now() < nextNs) await clock.idle(nextNs)
    }
    return true
  }

  /** Puts an Admin command into its queue: its first dword and its NSID, PRP1, and dwords from 10 on. */
  stage(dword0: number, { nsid = 0, prp1 = 0, cdw = [] as readonly number[] } = {}): void {
    const { view } = this.sq
    const at = this.tail * 64
    for (let i = 0; i < 16; i++) view!.setUint32(at + 4 * i, 0, true)
    view!.setUint32(at, dword0, true)
    view!.setUint32(at + 4, nsid, true)
    view!.setBigUint64(at + 24, BigInt(prp1), true)
    cdw.forEach((value, i) => view!.setUint32(at + 40 + 4 * i, value, true))
    this.tail = (this.tail + 1) % this.entries
  }

  ringTail(): void {
    this.transport.bar.write32(0x1000, this.tail)
  }

  ringHead(): void {
    this.transport.bar.write32(0x1004, this.head)
  }

  /** Whether the next completion has come; if so it is taken, and its doorbell is not rung. */
  async completes(): Promise<boolean> {
    const { view } = this.cq
    const at = this.head * 16
    if (!(await this.settles(() => (view!.getUint16(at + 14, true) & 1) === this.phase))) return false
    this.head = (this.head + 1) % this.entries
    if (this.head === 0) this.phase ^= 1
    return true
  }
}
