import { blockCommand, blockPattern, firstSpace, get, put, sameBytes, withPrps } from '../blocks.js'
import type { ControllerCase } from '../case.js'
import { equal, fail, status, success } from '../check.js'
import type { Completed } from '../completed.js'
import type { Entry } from '../raw-host/entry.js'
import type { ControllerFacts } from '../facts.js'
import type { CaseHost } from '../host.js'
import { needsBlocks } from '../io.js'
import type { CaseMemory } from '../memory.js'

const needsShadow = (facts: ControllerFacts) =>
  (facts.oacs & 0x100) !== 0 ? needsBlocks(facts) : 'OACS bit 8 is 0: no Doorbell Buffer Config'

const configure = (host: CaseHost, prp1: number, prp2: number): Promise<Completed> =>
  host.admin({ opcode: 0x7c, prp1, prp2 })

/** Shadow doorbells and the EventIdx values of the controller (Base 2.3 §5.3.5, §B.5). */
class Shadow {
  private readonly host: CaseHost
  private readonly doorbells: CaseMemory
  private readonly eventIndexes: CaseMemory
  private readonly fence = new Int32Array(new SharedArrayBuffer(4))

  constructor(host: CaseHost) {
    this.host = host
    this.doorbells = host.alloc(host.pageBytes, { fill: 0 })
    this.eventIndexes = host.alloc(host.pageBytes, { fill: 0 })
  }

  /**
   * Sends Doorbell Buffer Config, after storing the current doorbell values, and that of this command, in the memory.
   */
  async enable(): Promise<void> {
    const [sq, cq] = [this.host.sqs.get(0)!, this.host.cqs.get(0)!]
    this.doorbells.set32(this.at(0), (sq.tail + 1) % sq.entries)
    this.doorbells.set32(this.at(1), (cq.head + 1) % cq.entries)
    success(await configure(this.host, this.doorbells.iova(), this.eventIndexes.iova()))
  }

  /** Stages a command and writes the shadow doorbell of its queue; rings only if EventIdx requests it. */
  submit(qid: number, entry: Entry): number {
    const { host } = this
    const cid = host.stage(qid, entry)
    const { tail, entries } = host.sqs.get(qid)!
    this.set(2 * qid, tail, entries, () => host.ringTail(qid))
    return cid
  }

  /** Collects completions; announces the head in the same way. */
  async collect(cqid: number, count: number): Promise<Completed[]> {
    const { host } = this
    const cq = host.cqs.get(cqid)!
    const found: Completed[] = []
    const all = await host.until(() => {
      const more = host.poll(cqid, { ring: false })
      if (more.length > 0) this.set(2 * cqid + 1, cq.head, cq.entries, () => host.ringHead(cqid))
      return found.push(...more) >= count
    })
    if (!all) fail(`CQ ${cqid} with shadow doorbells: expected ${count} completions, got ${found.length}`)
    return found
  }

  /** Submits one command and returns its completion, which must be the only one. */
  async command(qid: number, entry: Entry): Promise<Completed> {
    const cid = this.submit(qid, entry)
    const [completed, another] = await this.collect(this.host.sqs.get(qid)!.cqid, 1)
    if (another !== undefined || completed!.cid !== cid) fail(`SQ ${qid}: expected one completion, of CID ${cid}`)
    return completed!
  }

  /** Writes a shadow doorbell, and the doorbell register if X <= Y (Base 2.3 §B.5.2). */
  private set(index: number, value: number, entries: number, ring: () => void): void {
    const at = this.at(index)
    const old = this.doorbells.u32(at)
    this.doorbells.set32(at, value)
    // EventIdx must be read after this write is visible, or each side may miss the other's latest write.
    Atomics.add(this.fence, 0, 1)
    const modulo = (difference: number) => ((difference % entries) + entries) % entries
    if (modulo(value - this.eventIndexes.u32(at)) <= modulo(value - old)) ring()
  }

  private at(index: number): number {
    return index * this.host.registers.strideBytes
  }
}

/** Creates a queue pair while shadow doorbells are in use. */
async function createPair(host: CaseHost, shadow: Shadow, qid: number, entries: number): Promise<void> {
  const cq = host.addCqRing(qid, entries)
  const cdw = { 10: qid | ((entries - 1) << 16), 11: 1 }
  success(await shadow.command(0, { opcode: 0x05, prp1: cq.memory.iova(), cdw }))
  const sq = host.addSqRing(qid, entries, qid)
  success(await shadow.command(0, { opcode: 0x01, prp1: sq.memory.iova(), cdw: { ...cdw, 11: 1 | (qid << 16) } }))
}

/** Base 2.3 §5.3.5. */
export const shadowDoorbellCases: readonly ControllerCase[] = [
  {
    id: 'shadow-doorbells',
    title: 'With shadow doorbells, commands need no doorbell write unless EventIdx requests one, over several laps',
    spec: 'Base 2.3 §5.3.5, Figure 515; §B.5.1, §B.5.2',
    needs: needsShadow,
    async run(host) {
      await host.startWithPair()
      const space = firstSpace(host)
      const wanted = blockPattern(0, 40, space.blockBytes, 50)
      await put(host, space, 0, wanted)
      await host.disable()
      await host.start()
      const shadow = new Shadow(host)
      await shadow.enable()
      await createPair(host, shadow, 1, 7)
      const memory = host.alloc(40 * space.blockBytes)
      for (let lba = 0; lba < 40; lba++) {
        const pointer = [memory.iova(lba * space.blockBytes), 0] as const
        success(await shadow.command(1, withPrps(blockCommand(0x02, 1, lba, 1), pointer)))
      }
      sameBytes('the blocks', memory.read(), wanted)
      for (let i = 0; i < 40; i++) success(await shadow.command(0, { opcode: 0x0a, cdw: { 10: 0x07 } }))
    },
  },
  {
    id: 'shadow-doorbells-while-busy',
    title: 'A shadow doorbell value stored after the doorbell write is detected without another write',
    spec: 'Base 2.3 §5.3.5, §B.5.1, §B.5.2',
    needs: needsShadow,
    async run(host) {
      await host.start()
      const shadow = new Shadow(host)
      await shadow.enable()
      await createPair(host, shadow, 1, 16)
      const { blockBytes } = host.facts
      const memory = host.alloc(blockBytes)
      for (let round = 0; round < 12; round++) {
        // No time passes between the commands, so that only the first one needs a doorbell write.
        const entry = withPrps(blockCommand(0x02, 1, round, 1), [memory.iova(), 0])
        const cids = Array.from({ length: 5 }, () => shadow.submit(1, entry))
        const found = await shadow.collect(1, cids.length)
        found.forEach(success)
        equal('CIDs', new Set(found.map(({ cid }) => cid)).size, cids.length)
      }
    },
  },
  {
    id: 'shadow-doorbells-bad-addresses',
    title: 'Shadow doorbells or event indexes that are not page aligned are rejected with Invalid Field in Command',
    spec: 'Base 2.3 §5.3.5, §5.3.5.1',
    needs: needsShadow,
    async run(host) {
      await host.startWithPair()
      const memory = host.alloc(3 * host.pageBytes, { fill: 0 })
      status(await configure(host, memory.iova(4), memory.iova(host.pageBytes)), '0/02')
      status(await configure(host, memory.iova(), memory.iova(host.pageBytes + 64)), '0/02')
      // Doorbells work as before.
      const space = firstSpace(host)
      const wanted = blockPattern(0, 8, space.blockBytes, 51)
      await put(host, space, 0, wanted)
      sameBytes('the blocks', await get(host, space, 0, 8), wanted)
    },
  },
  {
    id: 'shadow-doorbells-end-with-a-reset',
    title: 'A Controller Reset disables shadow doorbells, and doorbell writes alone suffice',
    spec: 'Base 2.3 §5.3.5',
    needs: needsShadow,
    async run(host) {
      await host.start()
      const shadow = new Shadow(host)
      await shadow.enable()
      await createPair(host, shadow, 1, 7)
      success(await shadow.command(1, { opcode: 0x00, nsid: 1 }))
      await host.disable()
      await host.startWithPair()
      const space = firstSpace(host)
      const wanted = blockPattern(0, 16, space.blockBytes, 52)
      await put(host, space, 0, wanted)
      sameBytes('the blocks', await get(host, space, 0, 16), wanted)
    },
  },
]
