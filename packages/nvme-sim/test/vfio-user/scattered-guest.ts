import type { NamespaceOptions } from '../../src/nvm/namespace.js'
import { BAR0, CONFIG, DirectClient, words } from './direct-client.js'
import { another, closeAll, unnamedFile } from './fake-host.js'

export const PAGE = 4096
const PAGES = 256
/** First page, by IOVA, of the queues of two pages each, of a PRP list or SGL segment, and of data. */
const [ASQ, ACQ, SQ, CQ, LIST, DATA] = [0, 2, 4, 6, 8, 16]

/** Entries of each queue. Every queue is larger than a page, and none ends at a page boundary. */
export const SQ_ENTRIES = 100
export const CQ_ENTRIES = 300

/** Fields of a command. The rest of its entry is zero. */
export interface GuestCommand {
  readonly opcode: number
  readonly nsid?: number
  /** Value of the field PSDT. */
  readonly psdt?: number
  readonly dptr?: readonly [bigint | number, bigint | number]
  readonly mptr?: number
  readonly cdw?: Readonly<Record<number, number>>
}

/**
 * A guest whose pages alternate between two files, in descending order, so that adjacent pages are never contiguous in a
 * file. It drives a controller, with one pair of I/O queues, by the messages of a client. It is not a `RawHost`, which needs
 * each ring in one view.
 */
export class ScatteredGuest {
  readonly client: DirectClient
  /** The memory page of CC.MPS. */
  readonly pageBytes: number
  /** Addresses of a list and of data, for tests. */
  readonly list = LIST * PAGE
  readonly data = DATA * PAGE
  private readonly files = [unnamedFile(PAGES * PAGE), unnamedFile(PAGES * PAGE)]
  private readonly bytes: readonly Uint8Array[]
  /** File, and page in the file, of each page by IOVA. */
  private readonly places: { file: number; page: number }[] = []
  private readonly rings = [ASQ, SQ].map((sq, qid) => ({ sq, cq: qid === 0 ? ACQ : CQ, tail: 0, head: 0, phase: 1 }))
  private cid = 0

  constructor(mps = 0, namespaces: readonly NamespaceOptions[] = [{ capacityBytes: 2 ** 20 }]) {
    this.pageBytes = PAGE << mps
    this.client = new DirectClient({ namespaces }).agree()
    this.bytes = this.files.map((file) => this.client.memory.bytesOf(file))
    for (let page = 0; page < PAGES; page++) this.place(page, page % 2, PAGES - 1 - page)
    this.client.write(CONFIG, 0x04, words([16, 6]))
    const registers = [
      [0x24, (SQ_ENTRIES - 1) | ((CQ_ENTRIES - 1) << 16)],
      [0x28, ASQ * PAGE],
      [0x30, ACQ * PAGE],
      [0x14, 0x0046_0001 | (mps << 7)],
    ] as const
    for (const [offset, value] of registers) this.client.write32(BAR0, offset, value)
    this.client.run()
  }

  get csts(): number {
    return this.client.read32(BAR0, 0x1c)
  }

  /** Creates the pair of I/O queues. Returns both statuses. */
  createQueues(): string[] {
    const cq = {
      opcode: 0x05,
      nsid: 0,
      dptr: [CQ * PAGE, 0],
      cdw: { 10: 1 | ((CQ_ENTRIES - 1) << 16), 11: 1 },
    } as const
    const sqCdw = { 10: 1 | ((SQ_ENTRIES - 1) << 16), 11: 1 | (1 << 16) }
    return [this.command(0, cq), this.command(0, { opcode: 0x01, nsid: 0, dptr: [SQ * PAGE, 0], cdw: sqCdw })]
  }

  /** Executes a command. Returns its status, such as '0/04', or 'none' without a completion. */
  command(qid: 0 | 1, { opcode, nsid = 1, psdt = 0, dptr = [0, 0], mptr = 0, cdw = {} }: GuestCommand): string {
    const ring = this.rings[qid]!
    const cid = (this.cid = (this.cid + 1) & 0xffff)
    const head = words(
      [32, opcode | (psdt << 14) | (cid << 16)],
      [32, nsid],
      [64, 0],
      [64, mptr],
      [64, dptr[0]],
      [64, dptr[1]],
    )
    const entry = new DataView(new ArrayBuffer(64))
    new Uint8Array(entry.buffer).set(head)
    for (const [dword, value] of Object.entries(cdw)) entry.setUint32(Number(dword) * 4, value, true)
    this.put(ring.sq * PAGE + ring.tail * 64, new Uint8Array(entry.buffer))
    ring.tail = (ring.tail + 1) % SQ_ENTRIES
    this.client.write32(BAR0, 0x1000 + qid * 8, ring.tail)
    this.client.run()
    const cqe = new DataView(this.get(ring.cq * PAGE + ring.head * 16, 16).buffer)
    const dw3 = cqe.getUint32(12, true)
    if (((dw3 >>> 16) & 1) !== ring.phase || (dw3 & 0xffff) !== cid) return 'none'
    ring.head = (ring.head + 1) % CQ_ENTRIES
    if (ring.head === 0) ring.phase ^= 1
    this.client.write32(BAR0, 0x1004 + qid * 8, ring.head)
    return `${(dw3 >>> 25) & 7}/${((dw3 >>> 17) & 0xff).toString(16).padStart(2, '0')}`
  }

  /** Reads or writes blocks of 512 bytes with PRPs, whose list starts at `list`. */
  transfer(
    opcode: 0x01 | 0x02,
    slba: number,
    blocks: number,
    iova: number,
    list = this.list,
    beside: object = {},
  ): string {
    const dptr = this.prps(iova, blocks * 512, list)
    return this.command(1, { opcode, dptr, cdw: { 10: slba, 12: blocks - 1 }, ...beside })
  }

  /** Writes the PRP list of these bytes, whose pages are adjacent, and returns PRP1 and PRP2. */
  prps(iova: number, lengthBytes: number, list = this.list): [number, number] {
    const { pageBytes } = this
    const pages: number[] = []
    for (let at = iova - (iova % pageBytes) + pageBytes; at < iova + lengthBytes; at += pageBytes) pages.push(at)
    if (pages.length < 2) return [iova, pages[0] ?? 0]
    let at = list
    pages.forEach((page, i) => {
      if ((at + 8) % pageBytes === 0 && i < pages.length - 1) this.put(at, words([64, (at += 8)]))
      this.put(at, words([64, page]))
      at += 8
    })
    return [iova, list]
  }

  /** Returns bytes of the guest's memory. */
  get(iova: number, lengthBytes: number): Uint8Array {
    const found = new Uint8Array(lengthBytes)
    this.eachPart(iova, lengthBytes, (part, at) => found.set(part, at))
    return found
  }

  put(iova: number, bytes: Uint8Array): void {
    this.eachPart(iova, bytes.length, (part, at) => part.set(bytes.subarray(at, at + part.length)))
  }

  /** Unmaps the page at an address, or maps it with other flags: 1 for reading, 2 for writing. */
  change(iova: number, flags: 0 | 1 | 2): void {
    const { file, page } = this.places[iova / PAGE]!
    this.client.unmap(iova, PAGE)
    if (flags !== 0) this.client.map(iova, PAGE, page * PAGE, another(this.files[file]!), flags)
  }

  /** Moves the page at an address to the other file, with its content. */
  move(iova: number): void {
    const [index, bytes] = [iova / PAGE, this.get(iova, PAGE)]
    const { file, page } = this.places[index]!
    this.client.unmap(iova, PAGE)
    this.place(index, 1 - file, page)
    this.put(iova, bytes)
  }

  close(): void {
    this.client.leave()
    closeAll(this.files)
  }

  private place(index: number, file: number, page: number): void {
    this.places[index] = { file, page }
    this.client.map(index * PAGE, PAGE, page * PAGE, another(this.files[file]!))
  }

  private eachPart(iova: number, lengthBytes: number, visit: (part: Uint8Array, at: number) => void): void {
    for (let at = 0; at < lengthBytes;) {
      const offset = (iova + at) % PAGE
      const { file, page } = this.places[Math.floor((iova + at) / PAGE)]!
      const start = page * PAGE + offset
      const part = this.bytes[file]!.subarray(start, start + Math.min(PAGE - offset, lengthBytes - at))
      visit(part, at)
      at += part.length
    }
  }
}
