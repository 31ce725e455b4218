// A host that does nothing but submit reads and take completions: what is left is the simulator's own time.

const CC_ENABLED = 0x0046_0001
const PAGE = 4096

/** Enables the controller of `transport` and gives it one I/O queue pair of `entries`. */
export async function openQueuePair(transport, entries) {
  const { bar, dma, clock } = transport
  const ring = (count, entryBytes) => dma.alloc(count * entryBytes, { contiguous: true })
  const adminSq = ring(16, 64)
  const adminCq = ring(16, 16)
  bar.write32(0x24, 15 | (15 << 16))
  bar.write64(0x28, BigInt(adminSq.iovaAt(0)))
  bar.write64(0x30, BigInt(adminCq.iovaAt(0)))
  bar.write32(0x14, CC_ENABLED)
  while ((bar.read32(0x1c) & 1) === 0) await clock.idle(Infinity)

  let adminTail = 0
  const admin = async (opcode, prp1, cdw10, cdw11) => {
    const at = adminTail * 64
    adminSq.view.setUint32(at, opcode | (adminTail << 16), true)
    adminSq.view.setBigUint64(at + 24, BigInt(prp1), true)
    adminSq.view.setUint32(at + 40, cdw10, true)
    adminSq.view.setUint32(at + 44, cdw11, true)
    bar.write32(0x1000, ++adminTail)
    const dw3 = adminTail * 16 - 4
    while (adminCq.view.getUint32(dw3, true) === 0) await clock.idle(Infinity)
    const status = adminCq.view.getUint32(dw3, true) >>> 17
    if (status !== 0) throw new Error(`opcode ${opcode}: status ${status.toString(16)}`)
  }
  const cq = ring(entries, 16)
  const sq = ring(entries, 64)
  await admin(0x05, cq.iovaAt(0), 1 | ((entries - 1) << 16), 1)
  await admin(0x01, sq.iovaAt(0), 1 | ((entries - 1) << 16), 1 | (1 << 16))
  return new QueuePair(transport, sq, cq, entries)
}

/** One I/O queue pair, driven by `readAll`. */
class QueuePair {
  constructor({ bar, dma, clock }, sq, cq, entries) {
    Object.assign(this, { bar, dma, clock, sq, cq, entries, tail: 0, head: 0, phase: 1 })
  }

  /**
   * Reads `commands` times `blocks` blocks, one command after the other over `spanBlocks` blocks from LBA 0, with
   * `depth` in flight, each slot into memory of its own. Every status must be success.
   */
  async readAll({ commands, blocks, blockBytes = 512, depth, spanBlocks }) {
    const { bar, clock, sq, cq, entries } = this
    const bytes = blocks * blockBytes
    const slots = Array.from({ length: depth }, () => this.slot(bytes))
    const free = slots.map((_, index) => index)
    let submitted = 0
    let completed = 0
    while (completed < commands) {
      const from = this.tail
      while (free.length > 0 && submitted < commands) {
        const slot = free.pop()
        const slba = (submitted * blocks) % spanBlocks
        const at = this.tail * 64
        sq.view.setUint32(at, 0x02 | (slot << 16), true)
        sq.view.setUint32(at + 4, 1, true)
        sq.view.setBigUint64(at + 24, slots[slot].prp1, true)
        sq.view.setBigUint64(at + 32, slots[slot].prp2, true)
        sq.view.setUint32(at + 40, slba, true)
        sq.view.setUint32(at + 48, blocks - 1, true)
        this.tail = this.tail + 1 === entries ? 0 : this.tail + 1
        submitted++
      }
      if (this.tail !== from) bar.write32(0x1008, this.tail)
      await clock.idle(Infinity)
      const before = this.head
      for (;;) {
        const dw3 = cq.view.getUint32(this.head * 16 + 12, true)
        if (((dw3 >>> 16) & 1) !== this.phase) break
        if (dw3 >>> 17 !== 0) throw new Error(`status ${(dw3 >>> 17).toString(16)}`)
        free.push(dw3 & 0xffff)
        completed++
        this.head = this.head + 1 === entries ? 0 : this.head + 1
        if (this.head === 0) this.phase ^= 1
      }
      if (this.head !== before) bar.write32(0x100c, this.head)
    }
    for (const { free: release } of slots) release()
  }

  /** Submits a read that nobody completes, and waits for it until `untilNs`. */
  async waitInVain(untilNs) {
    const { bar, clock, sq, cq, entries } = this
    const { prp1, free } = this.slot(512)
    const at = this.tail * 64
    sq.view.setUint32(at, 0x02, true)
    sq.view.setUint32(at + 4, 1, true)
    sq.view.setBigUint64(at + 24, prp1, true)
    this.tail = this.tail + 1 === entries ? 0 : this.tail + 1
    bar.write32(0x1008, this.tail)
    while (clock.now() < untilNs) await clock.idle(untilNs)
    if (((cq.view.getUint32(this.head * 16 + 12, true) >>> 16) & 1) === this.phase) throw new Error('a completion came')
    free()
  }

  /** Memory for one command's data, with its PRP entries written. */
  slot(bytes) {
    const data = this.dma.alloc(bytes, { contiguous: true })
    const pages = Math.ceil(bytes / PAGE)
    if (pages <= 2) {
      const prp2 = pages === 2 ? BigInt(data.iovaAt(PAGE)) : 0n
      return { prp1: BigInt(data.iovaAt(0)), prp2, free: () => data.free() }
    }
    const list = this.dma.alloc((pages - 1) * 8, { contiguous: true })
    for (let page = 1; page < pages; page++)
      list.view.setBigUint64((page - 1) * 8, BigInt(data.iovaAt(page * PAGE)), true)
    const free = () => [data, list].forEach((memory) => memory.free())
    return { prp1: BigInt(data.iovaAt(0)), prp2: BigInt(list.iovaAt(0)), free }
  }
}
