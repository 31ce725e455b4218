import { describe, expect, it } from 'vitest'
import { RDY, CSTS } from '../../conformance/raw-host/registers.js'
import { textsOf } from '../../test/diagnostics.js'
import { enabled, ready, TestHost } from '../../test/host.js'
import { deriveProfile } from '../index.js'
import type { ReachableMemory } from '../memory/reachable.js'
import { CompletionQueue } from './queue.js'
import { ShadowDoorbells } from './shadow-doorbells.js'

const FLUSH = { opcode: 0x00, nsid: 1 }

/** Passes two zeroed pages to the controller by Doorbell Buffer Config (7Ch). */
async function shadow(host: TestHost) {
  const doorbells = host.alloc(4096, true)
  const events = host.alloc(4096, true)
  const config = { opcode: 0x7c, prp1: doorbells.iovaAt(0), prp2: events.iovaAt(0) }
  expect((await host.admin(config)).status).toBe('0/00')
  // Entries have the layout of the doorbell registers, from offset 0 (Base 2.3 Figure 515): SQ 1 at 8, CQ 1 at 12.
  const at = (qid: number, isHead: boolean) => (2 * qid + (isHead ? 1 : 0)) * host.strideBytes
  return {
    doorbells,
    events,
    setTail: (qid: number, tail: number) => doorbells.view.setUint32(at(qid, false), tail, true),
    setHead: (qid: number, head: number) => doorbells.view.setUint32(at(qid, true), head, true),
    tailEvent: (qid: number) => events.view.getUint32(at(qid, false), true),
    headEvent: (qid: number) => events.view.getUint32(at(qid, true), true),
  }
}

describe('Doorbell Buffer Config (Base 2.1 §5.2.5)', () => {
  it('is supported according to OACS bit 8', async () => {
    const host = await enabled()
    const page = host.alloc(4096)
    await host.admin({ opcode: 0x06, prp1: page.iovaAt(0), cdw: { 10: 1 } })
    expect((page.view.getUint16(256, true) >>> 8) & 1).toBe(1)
  })

  it('after one doorbell write, the controller reads the latest tail from the buffer', async () => {
    const host = await ready()
    const { setTail, tailEvent } = await shadow(host)
    const rings = host.simulation.statistics.doorbellWrites
    const cids = [0, 1, 2].map(() => host.stage(1, FLUSH))
    setTail(1, 1)
    host.ringTail(1, 1)
    // EventIdx does not require a doorbell write for these.
    setTail(1, 3)
    const found = await host.collect(1, 3)
    expect(found.map(({ cid }) => cid)).toEqual(cids)
    expect(tailEvent(1)).toBe(3)
    expect(host.simulation.statistics.doorbellWrites - rings).toBeLessThanOrEqual(4)
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('the controller polls the buffer while commands are in flight', async () => {
    const host = await ready({ profile: deriveProfile('sn740', { commandSlots: 2 }) })
    const { setTail } = await shadow(host)
    const first = [0, 1, 2, 3].map(() => host.stage(1, FLUSH))
    setTail(1, 4)
    host.ringTail(1)
    await host.pass(5000)
    const late = host.stage(1, FLUSH)
    setTail(1, 5)
    const found = await host.collect(1, 5)
    expect(found.map(({ cid }) => cid).sort((a, b) => a - b)).toEqual([...first, late])
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('the controller reads the CQ head from the buffer before it treats the queue as full', async () => {
    const host = await ready({}, 4)
    const { setTail, setHead } = await shadow(host)
    for (let round = 0; round < 5; round++) {
      host.stage(1, FLUSH)
      const { tail } = host.sqs.get(1)!
      setTail(1, tail)
      host.ringTail(1)
      await host.pass(1000)
      expect(host.poll(1, { ring: false })).toHaveLength(1)
      setHead(1, host.cqs.get(1)!.head)
    }
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('the controller reads a head value from the buffer that equals one rung a lap earlier', async () => {
    const host = await ready({}, 4)
    const { setTail, setHead } = await shadow(host)
    const consumed: number[] = []
    for (let round = 0; round < 8; round++) {
      host.stage(1, FLUSH)
      setTail(1, host.sqs.get(1)!.tail)
      host.ringTail(1)
      await host.pass(1000)
      consumed.push(host.poll(1, { ring: false }).length)
      setHead(1, host.cqs.get(1)!.head)
      // The register passes head 1; only the buffer passes head 0, where the queue started.
      if (round === 0) host.ringHead(1)
    }
    expect(consumed).toEqual([1, 1, 1, 1, 1, 1, 1, 1])
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('with INTx, EventIdx requests a doorbell write for each released entry, which deactivates INTx', async () => {
    const host = await enabled()
    const { memory } = host.addCqRing(1, 8)
    // IEN = 1, vector 0; MSI-X is disabled.
    expect((await host.admin({ opcode: 0x05, prp1: memory.iovaAt(0), cdw: { 10: 0x7_0001, 11: 3 } })).status).toBe(
      '0/00',
    )
    await host.createSq(1, 8, 1)
    const { setTail, setHead, headEvent } = await shadow(host)
    const isActive = () => ((host.simulation.transport.config!.read(6, 2) >>> 3) & 1) === 1
    for (let round = 1; round < 20; round++) {
      const before = (round - 1) % 8
      host.stage(1, FLUSH)
      setTail(1, round % 8)
      host.ringTail(1)
      await host.pass(1000)
      expect([round, isActive(), headEvent(1)]).toEqual([round, true, before])
      expect(host.poll(1, { ring: false })).toHaveLength(1)
      setHead(1, round % 8)
      // The head passes EventIdx, so the host must ring.
      host.ringHead(1, round % 8)
      expect([round, isActive()]).toEqual([round, false])
    }
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('EventIdx requests a doorbell write while completions wait for a free slot', async () => {
    const host = await enabled()
    await host.createCq(1, 3)
    await host.createSq(1, 8, 1)
    const { setHead, headEvent } = await shadow(host)
    for (let i = 0; i < 4; i++) host.stage(1, FLUSH)
    host.ringTail(1)
    await host.pass(1000)
    expect(host.poll(1, { ring: false })).toHaveLength(2)
    expect(headEvent(1)).toBe(0)
    setHead(1, 2)
    host.ringHead(1)
    await host.pass(1000)
    expect(host.poll(1, { ring: false })).toHaveLength(2)
  })

  it('a host may still write doorbell registers only, as Linux does for the Admin queue', async () => {
    const host = await ready()
    await shadow(host)
    expect((await host.admin({ opcode: 0x0a, cdw: { 10: 0x07 } })).status).toBe('0/00')
    expect((await host.command(1, FLUSH)).status).toBe('0/00')
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('includes queues created later, also with a stride of 32 bytes', async () => {
    const host = await ready({ profile: deriveProfile('ideal', { CAP: { DSTRD: 3 }, ioQueuePairs: 3 }) })
    const { setTail } = await shadow(host)
    await host.createPair(2, 8)
    host.stage(2, FLUSH)
    setTail(2, 1)
    // Any doorbell write wakes the controller.
    host.submit(1, FLUSH)
    expect(await host.collect(2, 1)).toHaveLength(1)
  })

  it('an invalid value in the buffer is reported like one in the register', async () => {
    const host = await ready()
    const { setTail } = await shadow(host)
    host.submit(0, { opcode: 0x0c })
    setTail(1, 64)
    host.submit(0, { opcode: 0x0a, cdw: { 10: 0x07 } })
    const completed = await host.collect(0, 2)
    // Error status, Invalid Doorbell Write Value, the Error Information log page.
    expect(completed.some(({ dw0 }) => dw0 === 0x0001_0100)).toBe(true)
    expect(textsOf(host.simulation.diagnostics)).toEqual(['host rang SQ 1 tail 64, but SQ 1 has 64 entries'])
  })

  it.each([
    ['a PRP1 that is not page aligned', 64, 0, '0/02'],
    ['a PRP2 that is not page aligned', 0, 64, '0/02'],
  ])('rejects %s', async (_, first, second, status) => {
    const host = await ready()
    const memory = host.alloc(16384, true)
    const [prp1, prp2] = [memory.iovaAt(first), memory.iovaAt(8192 + second)]
    expect((await host.admin({ opcode: 0x7c, prp1, prp2 })).status).toBe(status)
  })

  it('rejects addresses without memory, and doorbells that exceed one page', async () => {
    const host = await ready()
    expect((await host.admin({ opcode: 0x7c, prp1: 0x1000, prp2: 0x2000 })).status).toBe('0/02')
    // 65 pairs of 32 bytes each: 4160 bytes.
    const wide = await ready({ profile: deriveProfile('ideal', { CAP: { DSTRD: 3 } }) })
    const page = wide.alloc(8192, true)
    const refused = await wide.admin({ opcode: 0x7c, prp1: page.iovaAt(0), prp2: page.iovaAt(4096) })
    expect(refused.status).toBe('0/02')
  })

  it('ends with a reset: the pages are no longer read or written', async () => {
    const host = await ready()
    const { doorbells, events } = await shadow(host)
    await host.command(1, FLUSH)
    await host.disable()
    new Uint8Array(doorbells.view.buffer).fill(0x5a)
    new Uint8Array(events.view.buffer).fill(0x5a)
    await host.enable()
    await host.createPair(1, 8)
    expect((await host.command(1, FLUSH)).status).toBe('0/00')
    for (const { view } of [doorbells, events]) {
      expect(new Uint8Array(view.buffer).every((byte) => byte === 0x5a)).toBe(true)
    }
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('reports a page that the host frees while it is in use, and no longer uses it', async () => {
    const host = await ready()
    const { doorbells } = await shadow(host)
    doorbells.free()
    expect((await host.command(1, FLUSH)).status).toBe('0/00')
    expect(host.bar.read32(CSTS)).toBe(RDY)
    expect(textsOf(host.simulation.diagnostics)).toEqual([expect.stringContaining('shadow doorbells: the memory at')])
  })
})

it('a large page may consist of several pieces: reads and writes use the piece of each doorbell', () => {
  const pages = new Map([0, 8192].map((iova) => [iova, [new Uint8Array(4096), new Uint8Array(4096)]]))
  const memory: ReachableMemory = {
    bytes: () => undefined,
    pieces: (iova) => pages.get(iova),
    has: () => true,
    explainUnmapped: () => 'nothing',
  }
  const watch = { seen: () => undefined, mistaken: () => undefined, lost: () => undefined }
  // With a stride of 4096 bytes, the head of CQ 0 is the first dword of the second piece.
  const shadow = new ShadowDoorbells(memory, [0, 8192], 8192, 10, watch)
  const cq = new CompletionQueue(0, 4, 16384, [new Uint8Array(64)])
  shadow.attach(cq)
  new DataView(pages.get(0)![1]!.buffer).setUint32(0, 2, true)
  expect(cq.shadow!.poll()).toBe(2)
  expect(cq.shadow!.askFrom(3)).toBe(true)
  expect(pages.get(8192)!.map((piece) => piece[0])).toEqual([0, 3])
})
