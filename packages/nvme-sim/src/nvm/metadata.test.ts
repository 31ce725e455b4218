import { describe, expect, it } from 'vitest'
import { bytesOf, fillPattern, ready, type TestHost } from '../../test/host.js'
import { at, onBlocks, qword } from '../../test/nvm.js'
import { textsOf } from '../../test/diagnostics.js'
import type { NamespaceOptions } from '../index.js'

const SUCCESS = '0/00'
const INVALID_FIELD = '0/02'
const DATA_TRANSFER_ERROR = '0/04'
const COMPARE_FAILURE = '2/85'

const formats = ([512, 4096] as const).flatMap((blockBytes) =>
  ([8, 16, 64] as const).map((metadataBytes) => ({ blockBytes, metadataBytes })),
)

async function hostWith(namespace: NamespaceOptions): Promise<TestHost> {
  const host = await ready({ fragmented: true, namespaces: [{ capacityBytes: 1 << 24, ...namespace }] })
  return host
}

describe('metadata in a separate buffer, MPTR (NVM 1.2 §5.2.3)', () => {
  it.each(formats)('of $metadataBytes bytes with blocks of $blockBytes bytes is written and read', async (format) => {
    const host = await hostWith(format)
    const blocks = 9
    const data = host.alloc(blocks * format.blockBytes)
    const metadata = host.alloc(blocks * format.metadataBytes, true)
    fillPattern(data, 1)
    fillPattern(metadata, 2)
    const write = onBlocks(0x01, 5, blocks, { ...at(host, data), cdw: qword(4, metadata.iovaAt(0)) })
    expect((await host.command(1, write)).status).toBe(SUCCESS)
    const back = host.alloc(data.lengthBytes)
    const metadataBack = host.alloc(metadata.lengthBytes, true)
    const read = onBlocks(0x02, 5, blocks, { ...at(host, back), cdw: qword(4, metadataBack.iovaAt(0)) })
    expect((await host.command(1, read)).status).toBe(SUCCESS)
    expect(Buffer.compare(bytesOf(data), bytesOf(back))).toBe(0)
    expect(Buffer.compare(bytesOf(metadata), bytesOf(metadataBack))).toBe(0)
    // A single block has its own metadata; that of an unwritten block is zero.
    const one = onBlocks(0x02, 13, 1, { ...at(host, back), cdw: qword(4, metadataBack.iovaAt(0)) })
    expect((await host.command(1, one)).status).toBe(SUCCESS)
    const { metadataBytes } = format
    expect(bytesOf(metadataBack, 0, metadataBytes)).toEqual(bytesOf(metadata, 8 * metadataBytes, metadataBytes))
    const never = onBlocks(0x02, 14, 1, { ...at(host, back), cdw: qword(4, metadataBack.iovaAt(0)) })
    expect((await host.command(1, never)).status).toBe(SUCCESS)
    expect(bytesOf(metadataBack, 0, metadataBytes).every((byte) => byte === 0)).toBe(true)
  })

  it('of all blocks fits into the capacity without overlapping their data', async () => {
    const host = await hostWith({ metadataBytes: 8, capacityBytes: 520 * 3 })
    const [data, metadata] = [host.alloc(512), host.alloc(8)]
    const one = (opcode: number, slba: number) =>
      host.command(1, onBlocks(opcode, slba, 1, { ...at(host, data), cdw: qword(4, metadata.iovaAt(0)) }))
    for (const slba of [2, 1, 0]) {
      bytesOf(data).fill(0x10 + slba)
      bytesOf(metadata).fill(0xa0 + slba)
      expect((await one(0x01, slba)).status).toBe(SUCCESS)
    }
    for (const slba of [2, 1, 0]) {
      expect((await one(0x02, slba)).status).toBe(SUCCESS)
      expect(bytesOf(data, 0, 512).every((byte) => byte === 0x10 + slba)).toBe(true)
      expect(bytesOf(metadata, 0, 8).every((byte) => byte === 0xa0 + slba)).toBe(true)
    }
  })

  it.each([
    [
      'is not dword aligned',
      (host: TestHost) => host.alloc(4096, true).iovaAt(2),
      INVALID_FIELD,
      /is not dword aligned/,
    ],
    ['points to no memory', () => 0x1000, DATA_TRANSFER_ERROR, /MPTR 0x1000, 16 bytes: no memory there, it was never/],
    [
      'points to memory that is too short',
      (host: TestHost) => host.alloc(12, true).iovaAt(0),
      DATA_TRANSFER_ERROR,
      /no memory there after the first 12 bytes/,
    ],
  ])('with an MPTR that %s is rejected and reported', async (_, pointer, status, message) => {
    const host = await hostWith({ metadataBytes: 16 })
    const entry = onBlocks(0x02, 0, 1, { ...at(host, host.alloc(512)), cdw: qword(4, pointer(host)) })
    expect((await host.command(1, { ...entry, cid: 7 })).status).toBe(status)
    expect(textsOf(host.simulation.diagnostics)).toEqual([expect.stringMatching(message)])
    expect(host.simulation.diagnostics[0]?.text).toMatch(/^SQ 1 CID 0x7 Read: MPTR /)
  })

  it('does not count for MDTS, 1 MiB', async () => {
    const host = await hostWith({ metadataBytes: 64 })
    const metadata = host.alloc(2048 * 64, true)
    const entry = onBlocks(0x02, 0, 2048, { ...at(host, host.alloc(1 << 20)), cdw: qword(4, metadata.iovaAt(0)) })
    expect((await host.command(1, entry)).status).toBe(SUCCESS)
  })
})

describe('metadata in extended logical blocks', () => {
  it.each(formats)('follows each block: $metadataBytes bytes after $blockBytes bytes of data', async (format) => {
    const host = await hostWith({ ...format, extendedLba: true })
    const blocks = 7
    const { blockBytes, metadataBytes } = format
    const data = host.alloc(blocks * (blockBytes + metadataBytes))
    fillPattern(data)
    expect((await host.command(1, onBlocks(0x01, 3, blocks, at(host, data)))).status).toBe(SUCCESS)
    const back = host.alloc(data.lengthBytes)
    expect((await host.command(1, onBlocks(0x02, 3, blocks, at(host, back)))).status).toBe(SUCCESS)
    expect(Buffer.compare(bytesOf(data), bytesOf(back))).toBe(0)
    const one = host.alloc(blockBytes + metadataBytes)
    expect((await host.command(1, onBlocks(0x02, 5, 1, at(host, one)))).status).toBe(SUCCESS)
    expect(Buffer.compare(bytesOf(one), bytesOf(data, 2 * one.lengthBytes, one.lengthBytes))).toBe(0)
  })

  it('counts for MDTS, 1 MiB', async () => {
    const host = await hostWith({ metadataBytes: 64, extendedLba: true })
    const fits = Math.floor(2 ** 20 / 576)
    const memory = host.alloc(2048 * 576)
    expect((await host.command(1, onBlocks(0x02, 0, fits, at(host, memory, 0, fits * 576)))).status).toBe(SUCCESS)
    expect((await host.command(1, onBlocks(0x02, 0, fits + 1, at(host, memory)))).status).toBe(INVALID_FIELD)
  })
})

it.each([false, true])(
  'Compare, Copy, Write Zeroes and Dataset Management include metadata; extended: %s',
  async (extendedLba) => {
    const host = await hostWith({ metadataBytes: 8, extendedLba })
    const data = host.alloc(extendedLba ? 520 : 512)
    const metadata = host.alloc(8, true)
    const pointer = { ...at(host, data), cdw: qword(4, metadata.iovaAt(0)) }
    const last = extendedLba ? bytesOf(data, 512, 8) : bytesOf(metadata)
    const statusOf = async (opcode: number, slba: number) =>
      (await host.command(1, onBlocks(opcode, slba, 1, pointer))).status
    bytesOf(data, 0, 512).fill(1)
    last.fill(2)
    expect(await statusOf(0x01, 0)).toBe(SUCCESS)
    expect(await statusOf(0x05, 0)).toBe(SUCCESS)
    last[7] = 3
    expect(await statusOf(0x05, 0)).toBe(COMPARE_FAILURE)
    const list = host.alloc(4096)
    const copy = { opcode: 0x19, nsid: 1, ...at(host, list), cdw: { 10: 50, 12: 0 } }
    expect((await host.command(1, copy)).status).toBe(SUCCESS)
    last[7] = 2
    expect(await statusOf(0x05, 50)).toBe(SUCCESS)
    for (const clear of [
      onBlocks(0x08, 50, 1),
      { opcode: 0x09, nsid: 1, ...at(host, list, 64, 16), cdw: { 10: 0, 11: 4 } },
    ]) {
      list.view.setUint32(64 + 4, 1, true)
      expect((await host.command(1, clear)).status).toBe(SUCCESS)
    }
    for (const slba of [50, 0]) {
      last.fill(9)
      expect(await statusOf(0x02, slba)).toBe(SUCCESS)
      expect([bytesOf(data)[0], ...last]).toEqual(Array.from({ length: 9 }, () => 0))
    }
  },
)

it('Identify Namespace reports eight formats, extended blocks in bit 4 of FLBAS, and MC 3h', async () => {
  const host = await hostWith({ blockBytes: 4096, metadataBytes: 64, extendedLba: true })
  const data = host.alloc(4096)
  await host.admin({ opcode: 0x06, nsid: 1, prp1: data.iovaAt(0) })
  const { view } = data
  expect([25, 26, 27, 28, 29].map((offset) => view.getUint8(offset))).toEqual([7, 0x17, 3, 0, 0])
  const formats = Array.from({ length: 9 }, (_, i) => view.getUint32(128 + 4 * i, true))
  expect(formats).toEqual([
    0x0009_0000, 0x000c_0000, 0x0009_0008, 0x000c_0008, 0x0009_0010, 0x000c_0010, 0x0009_0040, 0x000c_0040, 0,
  ])
  expect(view.getBigUint64(0, true)).toBe(BigInt(Math.floor(2 ** 24 / 4160)))
})
