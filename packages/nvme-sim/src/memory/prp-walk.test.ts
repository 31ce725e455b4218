import { expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { CC_ENABLED } from '../../conformance/raw-host/registers.js'
import { textsOf } from '../../test/diagnostics.js'
import { bytesOf, prps, ready, TestHost } from '../../test/host.js'
import { Diagnostics } from '../controller/diagnostics.js'
import { VirtualClock } from '../time/clock.js'
import { HostMemory } from './host-memory.js'
import { PrpWalker } from './prp-walk.js'
import { Runs } from './runs.js'

const PRP_OFFSET_INVALID = '0/13'
const DATA_TRANSFER_ERROR = '0/04'

async function readWith(change: (prp: { prp1: number; prp2: number; list: DataView }) => object, blocks = 32) {
  const host = await ready()
  const memory = host.alloc(64 * 1024)
  bytesOf(memory).fill(0xa5)
  const list = host.alloc(8192, true)
  for (let i = 0; i < 15; i++) list.view.setBigUint64(i * 8, BigInt(memory.iovaAt((i + 1) * 4096)), true)
  const prp = { prp1: memory.iovaAt(0), prp2: list.iovaAt(0), list: list.view }
  const completed = await host.command(1, { ...transfer(0x02, 0, blocks, [prp.prp1, prp.prp2]), ...change(prp) })
  const isUntouched = bytesOf(memory).every((byte) => byte === 0xa5)
  return { status: completed.status, isUntouched, texts: textsOf(host.simulation.diagnostics) }
}

it('an unchanged list is valid, so the tests below fail due to their changes', async () => {
  expect(await readWith(() => ({}))).toMatchObject({ status: '0/00', texts: [] })
})

it.each([
  [
    'PRP1 that is not dword aligned',
    ({ prp1 }: { prp1: number }) => ({ prp1: prp1 + 2 }),
    32,
    /PRP1 0x\w+ is not dword aligned/,
  ],
  ['PRP2 of a second page with an offset', ({ prp1 }: { prp1: number }) => ({ prp2: prp1 + 4096 + 512 }), 16, /PRP2/],
  [
    'a list pointer that is not qword aligned',
    ({ prp2 }: { prp2: number }) => ({ prp2: prp2 + 4 }),
    32,
    /not qword aligned/,
  ],
])('%s is PRP Offset Invalid, and no byte is transferred (Base 2.1 §4.3.1)', async (_, change, blocks, message) => {
  expect(await readWith(change, blocks)).toEqual({
    status: PRP_OFFSET_INVALID,
    isUntouched: true,
    texts: [expect.stringMatching(message)],
  })
})

it('an offset in any list entry is PRP Offset Invalid (Base 2.1 §4.3.1)', async () => {
  const outcome = await readWith(({ prp1, list }) => {
    list.setBigUint64(2 * 8, BigInt(prp1 + 3 * 4096 + 4), true)
    return {}
  })
  expect(outcome).toMatchObject({ status: PRP_OFFSET_INVALID, isUntouched: true })
})

it('an offset in the pointer to the next list page is PRP Offset Invalid (Base 2.1 §4.3.1)', async () => {
  const host = await ready()
  const memory = host.alloc(4 * 4096)
  const lists = host.alloc(8192, true)
  const slots = [memory.iovaAt(4096), lists.iovaAt(4096 + 8), memory.iovaAt(8192), memory.iovaAt(8192)]
  slots.forEach((iova, i) => lists.view.setBigUint64(4096 - 16 + i * 8, BigInt(iova), true))
  const read = transfer(0x02, 0, 32, [memory.iovaAt(0), lists.iovaAt(4096 - 16)])
  expect((await host.command(1, read)).status).toBe(PRP_OFFSET_INVALID)
  expect(textsOf(host.simulation.diagnostics)).toEqual([expect.stringMatching(/the next PRP list page/)])
})

it('a list may begin anywhere in its page, and continues in the page of its last entry (Base 2.1 §4.3.1)', async () => {
  const host = await ready()
  const memory = host.alloc(16 * 4096)
  const lists = host.alloc(8192, true)
  // The first list page has three slots: two data pages, then the address of the second list page.
  const slots = [1, 2, lists.iovaAt(4096), 3, 4, 5]
  slots.forEach((slot, i) => {
    const iova = slot < 16 ? memory.iovaAt(slot * 4096) : slot
    lists.view.setBigUint64(4096 - 24 + i * 8, BigInt(iova), true)
  })
  const data = host.alloc(6 * 4096)
  bytesOf(data).forEach((_, i, bytes) => (bytes[i] = i / 4096))
  await host.command(1, transfer(0x01, 0, 48, prps(host, data)))
  const read = transfer(0x02, 0, 48, [memory.iovaAt(0), lists.iovaAt(4096 - 24)])
  expect((await host.command(1, read)).status).toBe('0/00')
  expect(Buffer.compare(bytesOf(memory, 0, 6 * 4096), bytesOf(data))).toBe(0)
})

it.each([
  ['PRP1', () => ({ prp1: 0 })],
  ['PRP1 after the allocation', ({ prp1 }: { prp1: number }) => ({ prp1: prp1 + 64 * 1024 })],
  ['the list', () => ({ prp2: 0x7000 })],
  [
    'an entry of the list',
    ({ list }: { list: DataView }) => {
      list.setBigUint64(8, 0xdead_b000n, true)
      return {}
    },
  ],
  [
    'an entry of 2^63',
    ({ list }: { list: DataView }) => {
      list.setBigUint64(8, 1n << 63n, true)
      return {}
    },
  ],
])('%s without memory is a Data Transfer Error with a diagnostic, and no byte is transferred', async (_, change) => {
  expect(await readWith(change)).toEqual({
    status: DATA_TRANSFER_ERROR,
    isUntouched: true,
    texts: [expect.stringMatching(/no memory there/)],
  })
})

it.each<[string, (prp: { prp1: number; prp2: number; list: DataView }) => object, number, RegExp]>([
  ['PRP1', () => ({ prp1: 0 }), 32, /: PRP1 0x0, 4096 bytes: no memory there, it was never allocated$/],
  ['PRP2', () => ({ prp2: 0 }), 16, /: PRP2 0x0, 4096 bytes: no memory there, it was never allocated$/],
  ['the list', () => ({ prp2: 0x7000 }), 32, /: the PRP list 0x7000, 24 bytes: no memory there/],
  [
    'an entry of the list',
    ({ list }) => {
      list.setBigUint64(8, 0xdead_b000n, true)
      return {}
    },
    32,
    /: PRP list entry 1 0xdeadb000, 4096 bytes: no memory there, it was never allocated$/,
  ],
])('a diagnostic names the command, the pointer (%s) and the reason', async (_, change, blocks, message) => {
  const { texts } = await readWith((prp) => ({ cid: 7, ...change(prp) }), blocks)
  expect(texts).toEqual([expect.stringMatching(/^SQ 1 CID 0x7 Read: /)])
  expect(texts[0]).toMatch(message)
})

it('a diagnostic names an entry of a later list page with the number of the page', async () => {
  const host = await ready()
  const memory = host.alloc(4 * 4096)
  const lists = host.alloc(8192, true)
  const slots = [memory.iovaAt(4096), lists.iovaAt(4096), memory.iovaAt(8192), 0xdead_b000]
  slots.forEach((iova, i) => lists.view.setBigUint64(4096 - 16 + i * 8, BigInt(iova), true))
  await host.command(1, transfer(0x02, 0, 32, [memory.iovaAt(0), lists.iovaAt(4096 - 16)]))
  expect(textsOf(host.simulation.diagnostics)).toEqual([
    expect.stringContaining('Read: PRP list entry 1 of list page 1 0xdeadb000, 4096 bytes: no memory there'),
  ])
})

it('a diagnostic reports freed memory, and where memory ends', async () => {
  const host = await ready()
  const freed = host.alloc(4096)
  const at = freed.iovaAt(0)
  freed.free()
  const short = host.alloc(512)
  await host.command(1, { ...transfer(0x02, 0, 1, [at, 0]), cid: 1 })
  await host.command(1, { ...transfer(0x01, 0, 2, [short.iovaAt(0), 0]), cid: 2 })
  await host.command(0, { opcode: 0x06, prp1: at, cid: 3, cdw: { 10: 1 } })
  expect(textsOf(host.simulation.diagnostics)).toEqual([
    `SQ 1 CID 0x1 Read: PRP1 0x${at.toString(16)}, 512 bytes: no memory there, it was freed`,
    `SQ 1 CID 0x2 Write: PRP1 0x${short.iovaAt(0).toString(16)}, 1024 bytes: no memory there after the first 512 bytes`,
    `SQ 0 CID 0x3 Identify: PRP1 0x${at.toString(16)}, 4096 bytes: no memory there, it was freed`,
  ])
})

it('freeing memory of a command in flight is a Data Transfer Error with a diagnostic', async () => {
  const host = await ready({ profile: 'sn740' })
  const memory = host.alloc(4096)
  const at = memory.iovaAt(0)
  host.submit(1, { ...transfer(0x02, 0, 8, [at, 0]), cid: 9 })
  // The command is in progress: it takes tens of microseconds.
  await host.pass(10_000)
  memory.free()
  expect(await host.collect(1, 1)).toMatchObject([{ status: DATA_TRANSFER_ERROR }])
  const where = `0x${at.toString(16)}, 4096 bytes`
  expect(textsOf(host.simulation.diagnostics)).toEqual([
    `SQ 1 CID 0x9 Read: ${where}: no memory there, it was freed while the command was in progress`,
  ])
})

it('a transfer after the end of an allocation is a Data Transfer Error', async () => {
  const host = await ready()
  const short = host.alloc(4096 + 512)
  const completed = await host.command(1, transfer(0x02, 0, 16, [short.iovaAt(0), short.iovaAt(4096)]))
  expect(completed.status).toBe(DATA_TRANSFER_ERROR)
})

it('adjacent pages are merged into one run, so that contiguous memory is copied at once', () => {
  const memory = new HostMemory({ limitBytes: 1 << 24, fragmented: false, seed: 1 })
  const data = memory.alloc(1 << 20)
  const list = memory.alloc(4096)
  for (let i = 1; i < 256; i++) list.view!.setBigUint64((i - 1) * 8, BigInt(data.iovaAt(i * 4096)), true)
  const runs = new Runs()
  const walker = new PrpWalker(memory, new Diagnostics(new VirtualClock()))
  const requester = { describe: () => 'a test' }
  expect(walker.walk(requester, data.iovaAt(0), list.iovaAt(0), 1 << 20, 4096, runs, 'read')).toBeUndefined()
  expect([runs.count, runs.iova[0], runs.lengthBytes[0]]).toEqual([1, data.iovaAt(0), 1 << 20])
})

it('entries use the page size of CC.MPS: with 8 KiB pages, 16 KiB need PRP1 and PRP2', async () => {
  const host = new TestHost()
  await host.enable({ cc: CC_ENABLED | (1 << 7), sqEntries: 512 })
  await host.createPair(1, 512)
  const memory = host.simulation.transport.dma.alloc(16384, { alignBytes: 8192, contiguous: true })
  const read = transfer(0x02, 0, 32, [memory.iovaAt(0), memory.iovaAt(8192)])
  bytesOf(memory).fill(0xa5)
  expect((await host.command(1, read)).status).toBe('0/00')
  expect(bytesOf(memory).every((byte) => byte === 0)).toBe(true)
  const off = transfer(0x02, 0, 32, [memory.iovaAt(0), memory.iovaAt(4096)])
  expect((await host.command(1, off)).status).toBe(PRP_OFFSET_INVALID)
})
