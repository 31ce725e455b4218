import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { simulate, type Simulation, type SimulationOptions } from '../src/index.js'

// A host that knows no more than the spec's figures: offsets and bits stand here as numbers, so that a mistake in
// the declarations that the simulator is built on shows.

export const CAP = 0x00
export const VS = 0x08
export const CC = 0x14
export const CSTS = 0x1c
export const NSSR = 0x20
export const AQA = 0x24
export const ASQ = 0x28
export const ACQ = 0x30

/** EN, CSS = NVM, MPS = 4 KiB, IOSQES = 6, IOCQES = 4. */
export const CC_ENABLED = 0x0046_0001
export const RDY = 1
export const CFS = 2

/** What a test gives of a submission queue entry; everything else is zero. */
export interface Entry {
  readonly opcode: number
  readonly cid?: number
  readonly nsid?: number
  readonly prp1?: number
  readonly prp2?: number
  /** Command dwords by number. */
  readonly cdw?: Readonly<Record<number, number>>
}

export interface Completed {
  readonly dw0: number
  readonly sqhd: number
  readonly sqid: number
  readonly cid: number
  readonly phase: number
  /** SCT in hex, a slash, SC in hex: '0/00' is success. */
  readonly status: string
  readonly dnr: boolean
  /** The log page Error Information says more. */
  readonly more: boolean
  readonly atNs: number
}

interface Rings {
  readonly sq: DmaMemory
  readonly entries: number
  tail: number
  readonly cq: CqRing
}

export interface CqRing {
  readonly memory: DmaMemory
  readonly entries: number
  head: number
  phase: number
}

/** Drives a simulated controller by raw registers and raw bytes. */
export class TestHost {
  readonly simulation: Simulation
  readonly strideBytes: number
  readonly cqs = new Map<number, CqRing>()
  readonly sqs = new Map<number, Rings>()
  private nextCid = 0

  constructor(options?: SimulationOptions) {
    this.simulation = simulate(options)
    this.strideBytes = 4 << Number((this.bar.read64(CAP) >> 32n) & 0xfn)
  }

  get bar() {
    return this.simulation.transport.bar
  }

  get clock() {
    return this.simulation.clock
  }

  /** Contiguous memory is aligned to 8 KiB, for tests with memory pages of that size. */
  alloc(lengthBytes: number, contiguous = false): DmaMemory {
    return this.simulation.transport.dma.alloc(lengthBytes, { contiguous, alignBytes: contiguous ? 8192 : 4096 })
  }

  /** Lets time pass, with everything that happens in it. */
  async pass(durationNs: number): Promise<void> {
    await this.until(() => false, durationNs)
  }

  /** Passes time until `ready()` or until `withinNs` from now. */
  async until(ready: () => boolean, withinNs = 60e9): Promise<boolean> {
    const deadlineNs = this.clock.now() + withinNs
    while (!ready()) {
      if (this.clock.now() >= deadlineNs) return false
      await this.clock.idle(deadlineNs)
    }
    return true
  }

  /** Writes the Admin queues' addresses and CC, and waits for RDY or CFS. Returns CSTS. */
  async enable({ entries = 32, cc = CC_ENABLED }: { entries?: number; cc?: number } = {}): Promise<number> {
    const cq = this.addCqRing(0, entries)
    const sq = this.addSqRing(0, entries, 0)
    this.bar.write32(AQA, (entries - 1) | ((entries - 1) << 16))
    this.bar.write64(ASQ, BigInt(sq.sq.iovaAt(0)))
    this.bar.write64(ACQ, BigInt(cq.memory.iovaAt(0)))
    this.bar.write32(CC, cc)
    await this.until(() => (this.bar.read32(CSTS) & (RDY | CFS)) !== 0)
    return this.bar.read32(CSTS)
  }

  /** CC.EN 1 -> 0, until RDY = 0; every ring is forgotten. */
  async reset(): Promise<void> {
    this.bar.write32(CC, this.bar.read32(CC) & ~1)
    await this.until(() => (this.bar.read32(CSTS) & RDY) === 0)
    this.cqs.clear()
    this.sqs.clear()
  }

  addCqRing(qid: number, entries: number): CqRing {
    const cq = { memory: this.alloc(entries * 16, true), entries, head: 0, phase: 1 }
    this.cqs.set(qid, cq)
    return cq
  }

  addSqRing(qid: number, entries: number, cqid: number): Rings {
    const sq = { sq: this.alloc(entries * 64, true), entries, tail: 0, cq: this.cqs.get(cqid)! }
    this.sqs.set(qid, sq)
    return sq
  }

  /** Creates a completion queue; its status must be success. */
  async createCq(qid: number, entries: number): Promise<void> {
    const { memory } = this.addCqRing(qid, entries)
    const cdw = { 10: qid | ((entries - 1) << 16), 11: 1 }
    expectSuccess(await this.admin({ opcode: 0x05, prp1: memory.iovaAt(0), cdw }))
  }

  /** Creates a submission queue; its status must be success. */
  async createSq(qid: number, entries: number, cqid: number): Promise<void> {
    const { sq } = this.addSqRing(qid, entries, cqid)
    const cdw = { 10: qid | ((entries - 1) << 16), 11: 1 | (cqid << 16) }
    expectSuccess(await this.admin({ opcode: 0x01, prp1: sq.iovaAt(0), cdw }))
  }

  async createPair(qid: number, entries: number): Promise<void> {
    await this.createCq(qid, entries)
    await this.createSq(qid, entries, qid)
  }

  /** Writes an entry at the tail without ringing. Returns its CID. */
  stage(qid: number, entry: Entry): number {
    const ring = this.sqs.get(qid)!
    const at = ring.tail * 64
    const { view } = ring.sq
    const cid = entry.cid ?? this.nextCid++ & 0xffff
    for (let i = 0; i < 64; i += 4) view!.setUint32(at + i, 0, true)
    for (const [dword, value] of Object.entries(entry.cdw ?? {})) view!.setUint32(at + Number(dword) * 4, value, true)
    view!.setUint32(at, (entry.cdw?.[0] ?? 0) | entry.opcode | (cid << 16), true)
    if (entry.nsid !== undefined) view!.setUint32(at + 4, entry.nsid, true)
    if (entry.prp1 !== undefined) view!.setBigUint64(at + 24, BigInt(entry.prp1), true)
    if (entry.prp2 !== undefined) view!.setBigUint64(at + 32, BigInt(entry.prp2), true)
    ring.tail = (ring.tail + 1) % ring.entries
    return cid
  }

  ringTail(qid: number, tail = this.sqs.get(qid)!.tail): void {
    this.bar.write32(0x1000 + 2 * qid * this.strideBytes, tail)
  }

  ringHead(qid: number, head = this.cqs.get(qid)!.head): void {
    this.bar.write32(0x1000 + (2 * qid + 1) * this.strideBytes, head)
  }

  submit(qid: number, entry: Entry): number {
    const cid = this.stage(qid, entry)
    this.ringTail(qid)
    return cid
  }

  /** Takes the completions that are there now; rings the head for them unless `ring` is false. */
  poll(qid: number, ring = true): Completed[] {
    const cq = this.cqs.get(qid)!
    const { view } = cq.memory
    const found: Completed[] = []
    // A queue of n entries holds n - 1: a controller that never changes the phase shall not keep us here.
    while (found.length < cq.entries - 1) {
      const at = cq.head * 16
      const dw3 = view!.getUint32(at + 12, true)
      const phase = (dw3 >>> 16) & 1
      if (phase !== cq.phase) break
      found.push({
        dw0: view!.getUint32(at, true),
        sqhd: view!.getUint16(at + 8, true),
        sqid: view!.getUint16(at + 10, true),
        cid: dw3 & 0xffff,
        phase,
        status: `${((dw3 >>> 25) & 7).toString(16)}/${((dw3 >>> 17) & 0xff).toString(16).padStart(2, '0')}`,
        dnr: dw3 >>> 31 === 1,
        more: ((dw3 >>> 30) & 1) === 1,
        atNs: this.clock.now(),
      })
      cq.head = (cq.head + 1) % cq.entries
      if (cq.head === 0) cq.phase ^= 1
    }
    if (ring && found.length > 0) this.ringHead(qid)
    return found
  }

  /** Waits until `count` completions of `cqid` are there, at most a minute of virtual time. */
  async collect(cqid: number, count: number): Promise<Completed[]> {
    const found: Completed[] = []
    await this.until(() => found.push(...this.poll(cqid)) >= count)
    return found
  }

  /** One command, to its completion. */
  async command(qid: number, entry: Entry): Promise<Completed> {
    this.submit(qid, entry)
    const [completed] = await this.collect(qid, 1)
    if (completed === undefined) throw new Error('no completion within a minute')
    return completed
  }

  admin(entry: Entry): Promise<Completed> {
    return this.command(0, entry)
  }
}

/** A host whose controller is enabled and has queue pair 1. */
export async function ready(options?: SimulationOptions, entries = 64): Promise<TestHost> {
  const host = new TestHost(options)
  await host.enable()
  await host.createPair(1, entries)
  return host
}

/** PRP1 and PRP2 for a transfer; a list takes fresh pages of 512 entries, chained by the last entry of each. */
export function prps(
  host: TestHost,
  memory: DmaMemory,
  offsetBytes = 0,
  lengthBytes = memory.lengthBytes - offsetBytes,
): [number, number] {
  const prp1 = memory.iovaAt(offsetBytes)
  const pages: number[] = []
  for (let at = offsetBytes + 4096 - (prp1 % 4096); at < offsetBytes + lengthBytes; at += 4096) {
    pages.push(memory.iovaAt(at))
  }
  if (pages.length <= 1) return [prp1, pages[0] ?? 0]
  const lists = host.alloc(Math.ceil(pages.length / 511) * 4096, true)
  let slot = 0
  const put = (iova: number) => lists.view!.setBigUint64(8 * slot++, BigInt(iova), true)
  pages.forEach((page, index) => {
    if (slot % 512 === 511 && index < pages.length - 1) put(lists.iovaAt(8 * slot + 8))
    put(page)
  })
  return [prp1, lists.iovaAt(0)]
}

/** A Read (02h) or Write (01h) of `blocks` at `slba`. */
export function transfer(
  opcode: 0x01 | 0x02,
  slba: number,
  blocks: number,
  [prp1, prp2]: readonly [number, number],
  nsid = 1,
): Entry {
  const cdw = { 10: slba % 2 ** 32, 11: Math.floor(slba / 2 ** 32), 12: blocks - 1 }
  return { opcode, nsid, prp1, prp2, cdw }
}

/** Bytes in which every offset looks different from its neighbours, and every page from every other. */
export function fillPattern(memory: DmaMemory, salt = 1): void {
  const { view, lengthBytes } = memory
  for (let at = 0; at + 4 <= lengthBytes; at += 4) view!.setUint32(at, Math.imul(at + salt, 0x9e37_79b1), true)
}

export function bytesOf(
  memory: DmaMemory,
  offsetBytes = 0,
  lengthBytes = memory.lengthBytes - offsetBytes,
): Uint8Array {
  return new Uint8Array(memory.view!.buffer, memory.view!.byteOffset + offsetBytes, lengthBytes)
}

function expectSuccess({ status }: Completed): void {
  if (status !== '0/00') throw new Error(`expected success, got status ${status}`)
}
