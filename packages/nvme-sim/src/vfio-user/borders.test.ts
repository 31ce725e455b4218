import { randomStream } from '@gpunvme/nvme-spec/faults'
import { afterEach, describe, expect, it } from 'vitest'
import { words } from '../../test/vfio-user/direct-client.js'
import { CQ_ENTRIES, PAGE, ScatteredGuest } from '../../test/vfio-user/scattered-guest.js'
import { textsOf } from '../../test/diagnostics.js'

// Guest memory consists of several files, one per NUMA node for example, so that adjacent I/O addresses may be in
// different files. A real controller is not affected by this, so neither may the simulated one be.

const SUCCESS = '0/00'
const DATA_TRANSFER_ERROR = '0/04'
const INVALID_NUMBER_OF_DESCRIPTORS = '0/0e'
const [WRITE, READ] = [0x01, 0x02] as const
/** PSDT: data by SGL, and MPTR a buffer or an SGL segment; then SGL Descriptor Types (Base 2.1 §4.3.2). */
const [SGL, SGL_WITH_MPTR_SEGMENT] = [1, 2]
const [DATA_BLOCK, LAST_SEGMENT] = [0x00, 0x30]

const guests: ScatteredGuest[] = []
afterEach(() => guests.splice(0).forEach((guest) => guest.close()))

/** Returns a guest with its queues, whose data memory is filled with 0xa5. */
function started(...given: ConstructorParameters<typeof ScatteredGuest>): ScatteredGuest {
  const guest = new ScatteredGuest(...given)
  guests.push(guest)
  expect(guest.createQueues()).toEqual([SUCCESS, SUCCESS])
  guest.put(guest.data, new Uint8Array(64 * PAGE).fill(0xa5))
  return guest
}

const random = randomStream(1, 'borders')
const below = (end: number) => Math.floor(random() * end)
const NOISE = Uint8Array.from({ length: 2 ** 17 }, () => below(256))
/** Returns random bytes, different in each call. */
const noise = (lengthBytes: number) => NOISE.subarray(below(2 ** 16)).slice(0, lengthBytes)

const descriptor = (type: number, address: number, lengthBytes: number) =>
  [address, BigInt(lengthBytes) | (BigInt(type) << 56n)] as const

describe.each([0, 1])('with CC.MPS = %i and adjacent 4 KiB pages in different files', (mps) => {
  it('reads, writes, queues and PRP lists cross file boundaries', () => {
    const guest = started(mps)
    // The list crosses a file boundary. With 4 KiB pages, the last entry of its first page points to the next page.
    const list = guest.list + PAGE - 16
    for (let i = 0; i < CQ_ENTRIES; i++) {
      if (i === 50) for (let page = 0; page < 10; page++) guest.move(page * PAGE)
      const [slba, blocks] = [below(1800), 1 + below(100)]
      const bytes = noise(blocks * 512)
      const [from, to] = [guest.data + 4 * below(2000), guest.data + 32 * PAGE + 4 * below(2000)]
      guest.put(from, bytes)
      expect(guest.transfer(WRITE, slba, blocks, from, list)).toBe(SUCCESS)
      guest.put(to - 16, new Uint8Array(bytes.length + 32).fill(0xa5))
      expect(guest.transfer(READ, slba, blocks, to, list)).toBe(SUCCESS)
      const guard = new Uint8Array(16).fill(0xa5)
      expect(Buffer.compare(guest.get(to - 16, bytes.length + 32), Buffer.concat([guard, bytes, guard]))).toBe(0)
    }
    expect(guest.client.diagnostics.entries).toEqual([])
  })

  it('SGLs cross file boundaries, and one of their descriptors is in two files', () => {
    const guest = started(mps)
    const bytes = noise(64 * 512)
    const cut = 5 * PAGE + 777
    const [first, second] = [guest.data + 3, guest.data + 20 * PAGE + 4000]
    const segment = guest.list + PAGE - 24
    const list = [...descriptor(DATA_BLOCK, first, cut), ...descriptor(DATA_BLOCK, second, bytes.length - cut)]
    guest.put(segment, words(...list.map((word) => [64, word] as const)))
    const sgl = { psdt: SGL, dptr: descriptor(LAST_SEGMENT, segment, 32) }
    guest.put(guest.data + 32 * PAGE, bytes)
    expect(guest.transfer(WRITE, 0, 64, guest.data + 32 * PAGE)).toBe(SUCCESS)
    expect(guest.transfer(READ, 0, 64, 0, guest.list, sgl)).toBe(SUCCESS)
    expect(Buffer.compare(guest.get(first, cut), bytes.subarray(0, cut))).toBe(0)
    expect(Buffer.compare(guest.get(second, bytes.length - cut), bytes.subarray(cut))).toBe(0)
    expect(guest.transfer(WRITE, 1000, 64, 0, guest.list, sgl)).toBe(SUCCESS)
    expect(guest.transfer(READ, 1000, 64, guest.data + 40 * PAGE)).toBe(SUCCESS)
    expect(Buffer.compare(guest.get(guest.data + 40 * PAGE, bytes.length), bytes)).toBe(0)
    expect(guest.client.diagnostics.entries).toEqual([])
  })

  it('data of Admin commands and metadata cross file boundaries', () => {
    const guest = started(mps, [{ capacityBytes: 2 ** 20, metadataBytes: 8 }])
    const identify = (iova: number) =>
      guest.command(0, { opcode: 0x06, nsid: 0, dptr: guest.prps(iova, 4096), cdw: { 10: 1 } })
    // The boundary is inside the Serial Number, bytes 04 to 23.
    const at = guest.data + PAGE - 8
    expect([identify(guest.data + 8 * PAGE), identify(at)]).toEqual([SUCCESS, SUCCESS])
    expect(Buffer.from(guest.get(at + 4, 13)).toString()).toBe('GPUNVME-SIM-1')
    expect(Buffer.compare(guest.get(at, PAGE), guest.get(guest.data + 8 * PAGE, PAGE))).toBe(0)
    const [data, metadata] = [noise(64 * 512), noise(64 * 8)]
    guest.put(guest.data, data)
    const [mptr, back] = [guest.data + 31 * PAGE - 100, guest.data + 41 * PAGE - 200]
    guest.put(mptr, metadata)
    expect(guest.transfer(WRITE, 7, 64, guest.data, guest.list, { mptr })).toBe(SUCCESS)
    expect(guest.transfer(READ, 7, 64, guest.data + 20 * PAGE, guest.list, { mptr: back })).toBe(SUCCESS)
    expect(Buffer.compare(guest.get(back, metadata.length), metadata)).toBe(0)
    expect(Buffer.compare(guest.get(guest.data + 20 * PAGE, data.length), data)).toBe(0)
    // The same with SGLs: the descriptor at MPTR is in two files, and so is the metadata buffer.
    const [segment, again] = [guest.list + PAGE - 8, guest.data + 51 * PAGE - 300]
    guest.put(segment, words(...descriptor(DATA_BLOCK, again, metadata.length).map((word) => [64, word] as const)))
    const dptr = descriptor(DATA_BLOCK, guest.data + 20 * PAGE, data.length)
    expect(guest.transfer(READ, 7, 64, 0, guest.list, { psdt: SGL_WITH_MPTR_SEGMENT, dptr, mptr: segment })).toBe(
      SUCCESS,
    )
    expect(Buffer.compare(guest.get(again, metadata.length), metadata)).toBe(0)
    expect(guest.client.diagnostics.entries).toEqual([])
  })
})

describe('if the last page of a transfer is inaccessible', () => {
  /** A transfer of three pages; tests change the mapping of the last one. */
  const three = { blocks: 24, lastPage: 2 * PAGE }

  it.each([
    ['Read to an unmapped page', READ, 0, /0x12000, 4096 bytes: not mapped by the client$/],
    ['Write from an unmapped page', WRITE, 0, /0x12000, 4096 bytes: not mapped by the client$/],
    ['Read to a read-only page', READ, 1, /0x12000, 4096 bytes: mapped by the client as read-only$/],
    ['Write from a write-only page', WRITE, 2, /0x12000, 4096 bytes: mapped by the client as write-only$/],
  ] as const)('a %s ends with Data Transfer Error and transfers nothing', (_name, opcode, flags, diagnostic) => {
    const guest = started()
    const stored = noise(three.blocks * 512)
    guest.put(guest.data + 8 * PAGE, stored)
    expect(guest.transfer(WRITE, 0, three.blocks, guest.data + 8 * PAGE)).toBe(SUCCESS)
    guest.change(guest.data + three.lastPage, flags)
    expect(guest.transfer(opcode, 0, three.blocks, guest.data)).toBe(DATA_TRANSFER_ERROR)
    expect(textsOf(guest.client.diagnostics.entries)).toEqual([expect.stringMatching(diagnostic)])
    expect(guest.get(guest.data, 8 * PAGE).every((byte) => byte === 0xa5)).toBe(true)
    expect(guest.transfer(READ, 0, three.blocks, guest.data + 8 * PAGE)).toBe(SUCCESS)
    expect(Buffer.compare(guest.get(guest.data + 8 * PAGE, stored.length), stored)).toBe(0)
  })

  it('a Write from a read-only page succeeds', () => {
    const guest = started()
    guest.change(guest.data + three.lastPage, 1)
    expect(guest.transfer(WRITE, 0, three.blocks, guest.data)).toBe(SUCCESS)
  })

  it('a Read to a write-only page succeeds', () => {
    const guest = started()
    guest.change(guest.data + three.lastPage, 2)
    expect(guest.transfer(READ, 0, three.blocks, guest.data)).toBe(SUCCESS)
    expect(guest.get(guest.data, three.blocks * 512).every((byte) => byte === 0)).toBe(true)
  })

  it('a PRP list in it is a Data Transfer Error', () => {
    const guest = started(1)
    const list = guest.list + PAGE - 8
    expect(guest.transfer(READ, 0, 64, guest.data, list)).toBe(SUCCESS)
    guest.change(guest.list + PAGE, 0)
    expect(guest.transfer(READ, 0, 64, guest.data + 32 * PAGE, list)).toBe(DATA_TRANSFER_ERROR)
    expect(guest.get(guest.data + 32 * PAGE, 8 * PAGE).every((byte) => byte === 0xa5)).toBe(true)
  })

  it('an SGL segment in it is a Data Transfer Error; a segment with too many descriptors is rejected unread', () => {
    const guest = started()
    const read = (lengthBytes: number) =>
      guest.transfer(READ, 0, 8, 0, guest.list, {
        ...{ psdt: SGL, dptr: descriptor(LAST_SEGMENT, guest.list + PAGE - 16, lengthBytes) },
      })
    guest.change(guest.list + PAGE, 0)
    expect(read(32)).toBe(DATA_TRANSFER_ERROR)
    expect(read(2 ** 32 - 16)).toBe(INVALID_NUMBER_OF_DESCRIPTORS)
  })
})

describe('a queue whose second page', () => {
  it.each([
    ['is not mapped cannot be created', 0, [DATA_TRANSFER_ERROR, '1/00']],
    ['is read-only cannot be a completion queue', 1, [DATA_TRANSFER_ERROR, '1/00']],
  ] as const)('%s', (_name, flags, statuses) => {
    const guest = new ScatteredGuest()
    guests.push(guest)
    // A page of the completion queue: without it, the submission queue is rejected too.
    guest.change(7 * PAGE, flags)
    expect(guest.createQueues()).toEqual(statuses)
  })

  it('is unmapped later fails the controller when the queue is next used, and not before', () => {
    const guest = started()
    guest.change(5 * PAGE, 0)
    expect(guest.csts).toBe(1)
    expect(guest.transfer(READ, 0, 1, guest.data)).toBe('none')
    expect(guest.csts).toBe(3)
    expect(textsOf(guest.client.diagnostics.entries)).toEqual([
      'controller failed, CSTS.CFS = 1: SQ 1: its memory at 0x4000 is no longer mapped',
    ])
  })
})
