import { identify } from './admin.js'
import { fail, notApplicable, status } from './check.js'
import type { Entry } from './raw-host/entry.js'
import type { CaseHost } from './host.js'
import { prps } from './io.js'
import type { CaseMemory } from './memory.js'

/** Properties of a namespace needed to read and write it. */
export interface Space {
  readonly nsid: number
  readonly blocks: number
  readonly blockBytes: number
  readonly metadataBytes: number
  /** FLBAS bit 4: metadata follow the data of each block. */
  readonly isExtended: boolean
  /** Identify Namespace, 4096 bytes. */
  readonly view: DataView
}

/** Reads Identify Namespace (NVM 1.2 Figure 114) of an active namespace. */
export async function spaceOf(host: CaseHost, nsid: number): Promise<Space> {
  const view = await identify(host, 0x00, { nsid })
  const flbas = view.getUint8(26)
  const format = 128 + 4 * ((flbas & 0xf) | ((flbas >> 1) & 0x30))
  return {
    nsid,
    blocks: Number(view.getBigUint64(0, true)),
    blockBytes: 2 ** view.getUint8(format + 2),
    metadataBytes: view.getUint16(format, true),
    isExtended: (flbas & 0x10) !== 0,
    view,
  }
}

/** Namespace 1, checked by `needsBlocks`. */
export function firstSpace({ facts }: CaseHost): Space {
  const { blocks, blockBytes, metadataBytes, namespace } = facts
  return { nsid: 1, blocks, blockBytes, metadataBytes, isExtended: false, view: namespace }
}

/** Returns a command with the layout of Read (02h): SLBA in CDW10 and CDW11, NLB (0's based) in CDW12. */
export function blockCommand(opcode: number, nsid: number, slba: number | bigint, blocks: number): Entry {
  const cdw = { 10: Number(BigInt(slba) & 0xffff_ffffn), 11: Number(BigInt(slba) >> 32n), 12: blocks - 1 }
  return { opcode, nsid, cdw }
}

/** Adds a data pointer of two PRP entries to a command. */
export function withPrps(entry: Entry, [prp1, prp2]: readonly [number, number]): Entry {
  return { ...entry, prp1, prp2 }
}

/** Returns bytes in which each block of `blockBytes` begins with its own LBA; all bytes depend on `salt`. */
export function blockPattern(slba: number, blocks: number, blockBytes: number, salt: number): Uint8Array {
  const bytes = new Uint8Array(blocks * blockBytes)
  const view = new DataView(bytes.buffer)
  for (let at = 0; at < bytes.length; at += 4) view.setUint32(at, Math.imul(at + 4 * salt + 1, 0x9e37_79b1), true)
  for (let i = 0; i < blocks; i++) view.setBigUint64(i * blockBytes, BigInt(slba + i), true)
  return bytes
}

/** Bytes per command of `put` and `get`. */
const CHUNK_BYTES = 64 * 1024

/** Writes blocks, without metadata, by plain commands on SQ 1; each must succeed. */
export async function put(host: CaseHost, { nsid, blockBytes }: Space, slba: number, bytes: Uint8Array): Promise<void> {
  const step = Math.min(CHUNK_BYTES, host.facts.maxTransferBytes)
  for (let at = 0; at < bytes.length; at += step) {
    const part = bytes.subarray(at, at + step)
    const memory = host.alloc(part.length)
    memory.write(0, part)
    const entry = blockCommand(0x01, nsid, slba + at / blockBytes, part.length / blockBytes)
    status(await host.command(1, withPrps(entry, prps(host, memory))), '0/00')
  }
}

/** Reads blocks, without metadata, by plain commands on SQ 1; each must succeed. */
export async function get(
  host: CaseHost,
  { nsid, blockBytes }: Space,
  slba: number,
  blocks: number,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(blocks * blockBytes)
  const step = Math.min(CHUNK_BYTES, host.facts.maxTransferBytes)
  for (let at = 0; at < bytes.length; at += step) {
    const lengthBytes = Math.min(step, bytes.length - at)
    const memory = host.alloc(lengthBytes)
    const entry = blockCommand(0x02, nsid, slba + at / blockBytes, lengthBytes / blockBytes)
    status(await host.command(1, withPrps(entry, prps(host, memory))), '0/00')
    bytes.set(memory.read(), at)
  }
  return bytes
}

/** Checks that bytes are equal; the message names the first difference. */
export function sameBytes(what: string, got: Uint8Array, wanted: Uint8Array): void {
  const at = wanted.findIndex((byte, index) => got[index] !== byte)
  if (got.length === wanted.length && at < 0) return
  const hex = (byte: number | undefined) => `${byte?.toString(16) ?? 'nothing'}${byte === undefined ? '' : 'h'}`
  if (at < 0) fail(`${what}: expected ${wanted.length} bytes, got ${got.length}`)
  fail(`${what}: expected ${hex(wanted[at])} at byte ${at} of ${wanted.length}, got ${hex(got[at])}`)
}

/** Checks that every byte is `byte`. */
export function filledWith(what: string, bytes: Uint8Array, byte: number): void {
  const at = bytes.findIndex((each) => each !== byte)
  if (at >= 0) fail(`${what}: expected ${byte.toString(16)}h everywhere, got ${bytes[at]!.toString(16)}h at byte ${at}`)
}

/** Pieces of host memory for the bytes of a transfer, and the command fields that describe them. */
export interface Placed {
  readonly memory: CaseMemory
  readonly pieces: readonly (readonly [at: number, lengthBytes: number])[]
  readonly pointer: Pick<Entry, 'prp1' | 'prp2' | 'cdw'>
}

export type Place = (host: CaseHost, lengthBytes: number) => Placed

/** Returns the bytes of the pieces, concatenated. */
function gathered({ memory, pieces }: Placed): Uint8Array {
  const bytes = new Uint8Array(pieces.reduce((sum, [, length]) => sum + length, 0))
  let to = 0
  for (const [at, length] of pieces) {
    bytes.set(memory.read(at, length), to)
    to += length
  }
  return bytes
}

function scattered({ memory, pieces }: Placed, bytes: Uint8Array): void {
  let from = 0
  for (const [at, length] of pieces) {
    memory.write(at, bytes.subarray(from, from + length))
    from += length
  }
}

/** Checks that memory outside the pieces was not written, after resetting the pieces to a5h. */
function untouchedAround({ memory, pieces }: Placed): void {
  const bytes = memory.read()
  for (const [at, length] of pieces) bytes.fill(0xa5, at, at + length)
  filledWith('memory around the data buffer', bytes, 0xa5)
}

function placedAt(entry: Entry, { pointer }: Placed): Entry {
  return { ...entry, ...pointer, cdw: { ...entry.cdw, ...pointer.cdw } }
}

/**
 * Writes `blocks` blocks from memory laid out by `place`, and reads them into other memory of the same layout. Exactly
 * those blocks, and exactly those bytes of memory, must change.
 */
export async function movesExactly(
  host: CaseHost,
  place: Place,
  blocks: number,
  { space = firstSpace(host), slba = 8, cdw12 = 0 }: { space?: Space; slba?: number; cdw12?: number } = {},
): Promise<void> {
  const { nsid, blockBytes } = space
  if (slba < 1 || slba + blocks > space.blocks) notApplicable(`namespace ${nsid} has ${space.blocks} blocks`)
  const after = slba + blocks < space.blocks ? 1 : 0
  await put(host, space, slba - 1, blockPattern(slba - 1, blocks + 1 + after, blockBytes, 1))
  const data = blockPattern(slba, blocks, blockBytes, 2)
  const command = (opcode: number) => {
    const entry = blockCommand(opcode, nsid, slba, blocks)
    return { ...entry, cdw: { ...entry.cdw, 12: (blocks - 1) | cdw12 } }
  }

  const source = place(host, data.length)
  scattered(source, data)
  const before = source.memory.read()
  status(await host.command(1, placedAt(command(0x01), source)), '0/00')
  sameBytes('source memory of the Write', source.memory.read(), before)

  const wanted = blockPattern(slba - 1, blocks + 1 + after, blockBytes, 1)
  wanted.set(data, blockBytes)
  sameBytes('the blocks and their neighbours', await get(host, space, slba - 1, blocks + 1 + after), wanted)

  const target = place(host, data.length)
  status(await host.command(1, placedAt(command(0x02), target)), '0/00')
  sameBytes('the blocks that were read', gathered(target), data)
  untouchedAround(target)
}

/** Places data contiguously at a byte offset in its first page; describes it by PRP1, PRP2 and a PRP list if needed. */
export function atOffset(offset: number): Place {
  return (host, lengthBytes) => {
    const memory = host.alloc(offset + lengthBytes + host.pageBytes)
    const [prp1, prp2] = prps(host, memory, offset, lengthBytes)
    return { memory, pieces: [[offset, lengthBytes]], pointer: { prp1, prp2 } }
  }
}

/**
 * Places data in scattered pages, described by a PRP list that begins `slots` entries before the end of its page; each
 * full page of the list points to the next.
 */
export function byList(slots: (pageSlots: number) => number): Place {
  return (host, lengthBytes) => {
    const { pageBytes } = host
    const pages = Math.ceil(lengthBytes / pageBytes)
    const memory = host.alloc((pages + 1) * pageBytes)
    // In descending order with the first two swapped, so that no page is adjacent to its predecessor.
    const order = Array.from({ length: pages }, (_, page) => pages - page)
    if (pages > 1) [order[0], order[1]] = [order[1]!, order[0]!]
    const pieces = order.map((page, index) => {
      return [page * pageBytes, Math.min(pageBytes, lengthBytes - index * pageBytes)] as const
    })
    const pointed = (prp2: number) => ({ memory, pieces, pointer: { prp1: memory.iova(pieces[0]![0]), prp2 } })
    // PRP2 describes the second of two pages without a list.
    if (pages <= 2) return pointed(pages === 2 ? memory.iova(pieces[1]![0]) : 0)
    const pageSlots = pageBytes / 8
    const lists = host.alloc((2 + Math.ceil(pages / (pageSlots - 1))) * pageBytes, { fill: 0 })
    const first = pageSlots - slots(pageSlots)
    let slot = first
    const rest = pieces.slice(1)
    rest.forEach(([at], index) => {
      if (slot % pageSlots === pageSlots - 1 && index < rest.length - 1) lists.set64(8 * slot++, lists.iova(8 * slot))
      lists.set64(8 * slot++, memory.iova(at))
    })
    return pointed(lists.iova(8 * first))
  }
}
