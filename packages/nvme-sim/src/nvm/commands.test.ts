import { describe, expect, it } from 'vitest'
import { bytesOf, ready, type TestHost } from '../../test/host.js'
import { at, onBlocks, readMarked, writeMarked } from '../../test/nvm.js'
import { textsOf } from '../../test/diagnostics.js'
import { RamMedia, type Media, type SimulationOptions } from '../index.js'

const SUCCESS = '0/00'
const INVALID_FIELD = '0/02'
const LBA_OUT_OF_RANGE = '0/80'
const UNRECOVERED_READ_ERROR = '2/81'
const COMPARE_FAILURE = '2/85'
const INTERNAL_ERROR = '0/06'
const DATA_TRANSFER_ERROR = '0/04'
const WRITE_FAULT = '2/80'
const SIZE_LIMIT_EXCEEDED = '1/83'
const WRITE_PROTECTED = '0/20'

const WRITE_UNCORRECTABLE = 0x04
const COMPARE = 0x05
const WRITE_ZEROES = 0x08
const DATASET_MANAGEMENT = 0x09
const VERIFY = 0x0c
const COPY = 0x19

/** 1 GiB of 512-byte blocks. */
const END = 2 ** 21

async function marked(values: readonly number[], options?: SimulationOptions): Promise<TestHost> {
  const host = await ready(options)
  expect((await writeMarked(host, 0, values)).status).toBe(SUCCESS)
  return host
}

const statusOf = async (host: TestHost, entry: Parameters<TestHost['command']>[1]) =>
  (await host.command(1, entry)).status

describe('Write Zeroes (NVM 1.2 §3.3.8)', () => {
  it.each([
    ['without Deallocate', 0],
    ['with Deallocate, CDW12 bit 25', 1 << 25],
    ['with Force Unit Access, CDW12 bit 30', 1 << 30],
  ])('%s clears its blocks only', async (_, cdw12) => {
    const host = await marked([1, 2, 3, 4])
    expect(await host.command(1, onBlocks(WRITE_ZEROES, 1, 2, {}, cdw12))).toMatchObject({ status: SUCCESS, dw0: 0 })
    expect(await readMarked(host, 0, 4)).toEqual([1, 0, 0, 4])
  })

  it('accepts 65,536 blocks, the limit of its field, and rejects a range outside of the namespace', async () => {
    const host = await marked([1])
    expect(await statusOf(host, onBlocks(WRITE_ZEROES, 0, 65_536))).toBe(SUCCESS)
    expect(await readMarked(host, 0, 1)).toEqual([0])
    expect(await statusOf(host, onBlocks(WRITE_ZEROES, END - 1, 2))).toBe(LBA_OUT_OF_RANGE)
  })

  it('Namespace Zeroes (bit 23) requires Deallocate, clears the namespace, ignores SLBA and sets LBACZ', async () => {
    const host = await marked([1, 2])
    await writeMarked(host, END - 1, [9])
    const both = (1 << 23) | (1 << 25)
    expect(await statusOf(host, onBlocks(WRITE_ZEROES, 0, 1, {}, 1 << 23))).toBe(INVALID_FIELD)
    expect(await host.command(1, onBlocks(WRITE_ZEROES, 2 ** 40, 1, {}, both))).toMatchObject({
      status: SUCCESS,
      dw0: 1,
    })
    expect([await readMarked(host, 0, 2), await readMarked(host, END - 1, 1)]).toEqual([[0, 0], [0]])
  })

  it('writes zeroes to media that do not support deallocation', async () => {
    const ram = new RamMedia(1 << 20)
    const media: Media = {
      capacityBytes: ram.capacityBytes,
      read: (offset, into) => ram.read(offset, into),
      write: (offset, from) => ram.write(offset, from),
      flush: () => undefined,
      close: () => undefined,
    }
    const host = await marked([1, 2, 3], { namespaces: [{ media }] })
    expect(await statusOf(host, onBlocks(WRITE_ZEROES, 1, 1))).toBe(SUCCESS)
    expect(await readMarked(host, 0, 3)).toEqual([1, 0, 3])
  })
})

describe('Dataset Management (NVM 1.2 §3.3.3)', () => {
  /** Stores Dataset Management ranges: CATTR, LLB, SLBA. */
  function list(host: TestHost, ranges: readonly (readonly [slba: number, blocks: number])[], cdw11 = 4) {
    const memory = host.alloc(4096)
    ranges.forEach(([slba, blocks], i) => {
      memory.view.setUint32(i * 16 + 4, blocks, true)
      memory.view.setBigUint64(i * 16 + 8, BigInt(slba), true)
    })
    return { ...at(host, memory), cdw: { 10: ranges.length - 1, 11: cdw11 } }
  }

  const manage = (host: TestHost, ...given: [readonly (readonly [slba: number, blocks: number])[], number?]) =>
    host.command(1, { opcode: DATASET_MANAGEMENT, nsid: 1, ...list(host, ...given) })

  it('Deallocate makes every range read as zero, as DLFEAT (byte 33, 9h) reports', async () => {
    const host = await marked([1, 2, 3, 4, 5, 6])
    expect((await manage(host, [[0, 2], [4, 1]])).status).toBe(SUCCESS) // oxfmt-ignore
    expect(await readMarked(host, 0, 6)).toEqual([0, 0, 3, 4, 0, 6])
    const data = host.alloc(4096)
    await host.admin({ opcode: 0x06, nsid: 1, prp1: data.iovaAt(0) })
    expect(data.view.getUint8(33)).toBe(0x09)
  })

  it('accepts 256 ranges, and ignores those of length 0', async () => {
    const host = await marked([1, 2, 3])
    const ranges = Array.from({ length: 256 }, (_, i): [number, number] => [i % 2, i === 255 ? 1 : 0])
    expect((await manage(host, ranges)).status).toBe(SUCCESS)
    expect(await readMarked(host, 0, 3)).toEqual([1, 0, 3])
  })

  it('deallocates a range of 2^32 - 1 blocks in a namespace of 2^52 bytes', async () => {
    const host = await marked([1, 2, 3], { namespaces: [{ capacityBytes: 2 ** 52 }] })
    expect((await manage(host, [[1, 2 ** 32 - 1]])).status).toBe(SUCCESS)
    expect(await readMarked(host, 0, 3)).toEqual([1, 0, 0])
  })

  it('changes nothing without Deallocate, but validates the ranges', async () => {
    const host = await marked([1, 2])
    expect((await manage(host, [[0, 2]], 3)).status).toBe(SUCCESS)
    expect(await readMarked(host, 0, 2)).toEqual([1, 2])
    expect((await manage(host, [[0, 1], [END - 1, 2]], 3)).status).toBe(LBA_OUT_OF_RANGE) // oxfmt-ignore
  })

  it('deallocates overlapping ranges once', async () => {
    const media = new RamMedia(1 << 20)
    const asked: number[][] = []
    const deallocate = (...range: [number, number]) => {
      asked.push(range)
      RamMedia.prototype.deallocate.apply(media, range)
    }
    const host = await marked([1, 2], { namespaces: [{ media: Object.assign(media, { deallocate }) }] })
    const ranges = Array.from({ length: 256 }, (_, i): [number, number] => [i % 2, 100])
    expect((await manage(host, ranges)).status).toBe(SUCCESS)
    expect(asked).toEqual([[0, 101 * 512]])
    expect(await readMarked(host, 0, 2)).toEqual([0, 0])
  })

  /** Returns media that deallocate at most `turnBytes` per call. */
  function slowMedia(turnBytes = 4096): Media & { readonly asked: number[][] } {
    const ram = new RamMedia(1 << 20)
    const asked: number[][] = []
    const deallocatePart = (offsetBytes: number, lengthBytes: number) => {
      asked.push([offsetBytes, lengthBytes])
      const done = Math.min(lengthBytes, turnBytes)
      ram.deallocate(offsetBytes, done)
      return done
    }
    return Object.assign(ram, { asked, deallocatePart })
  }

  it.each([
    ['Dataset Management', (host: TestHost) => ({ opcode: DATASET_MANAGEMENT, ...list(host, [[2, 20]]) })],
    ['Write Zeroes', () => onBlocks(WRITE_ZEROES, 2, 20)],
  ])('a long %s lets other commands execute between its parts', async (_, entry) => {
    const media = slowMedia()
    const host = await marked([1, 2, 3], { namespaces: [{ media }] })
    const [long, short] = [
      host.submit(1, { nsid: 1, ...entry(host) }),
      host.submit(1, onBlocks(0x02, 0, 1, at(host, host.alloc(512)))),
    ]
    const completions = await host.collect(1, 2)
    expect(completions.map(({ cid, status }) => [cid, status])).toEqual([
      [short, SUCCESS],
      [long, SUCCESS],
    ])
    expect(media.asked).toEqual([[1024, 10_240], [5120, 6144], [9216, 2048]]) // oxfmt-ignore
    expect(await readMarked(host, 0, 3)).toEqual([1, 2, 0])
  })

  it.each([0, -4096, 512, 20_480, NaN])('fails if media report %s of 10,240 bytes as cleared', async (turnBytes) => {
    const media = Object.assign(slowMedia(), { deallocatePart: () => turnBytes })
    const host = await marked([1], { namespaces: [{ media }] })
    expect((await manage(host, [[0, 20]])).status).toBe(WRITE_FAULT)
    expect(host.simulation.diagnostics.at(-1)?.text).toContain('expected 10240, or a multiple of 4096 below it, got')
  })

  it('deallocates nothing if one range is outside of the namespace', async () => {
    const host = await marked([1, 2])
    expect(await manage(host, [[0, 2], [END, 1]])).toMatchObject({ status: LBA_OUT_OF_RANGE, dnr: true }) // oxfmt-ignore
    expect(await readMarked(host, 0, 2)).toEqual([1, 2])
  })
})

describe('Compare (NVM 1.2 §3.3.1)', () => {
  it('succeeds for equal data, and fails with DNR if one byte differs', async () => {
    const host = await marked([7, 8])
    const memory = host.alloc(1024)
    bytesOf(memory, 0, 512).fill(7)
    bytesOf(memory, 512).fill(8)
    expect(await statusOf(host, onBlocks(COMPARE, 0, 2, at(host, memory)))).toBe(SUCCESS)
    bytesOf(memory)[1023] = 9
    const completed = await host.command(1, onBlocks(COMPARE, 0, 2, at(host, memory)))
    expect(completed).toMatchObject({ status: COMPARE_FAILURE, dnr: true })
    expect(host.simulation.statistics).toMatchObject({ bytesRead: 0, bytesWritten: 1024 })
  })

  it('has the range and MDTS limits of a Read', async () => {
    const host = await ready()
    const memory = host.alloc(2 * 1024 * 1024)
    expect(await statusOf(host, onBlocks(COMPARE, END, 1, at(host, memory, 0, 512)))).toBe(LBA_OUT_OF_RANGE)
    expect(await statusOf(host, onBlocks(COMPARE, 0, 2049, at(host, memory)))).toBe(INVALID_FIELD)
  })
})

describe('Write Uncorrectable (NVM 1.2 §3.3.7) and Verify (§3.3.5)', () => {
  it('Read, Compare, Verify and Copy of marked blocks end with Unrecovered Read Error and DNR', async () => {
    const host = await marked([1, 2, 3, 4])
    expect(await statusOf(host, onBlocks(WRITE_UNCORRECTABLE, 1, 2))).toBe(SUCCESS)
    const memory = host.alloc(4096)
    const pointer = at(host, memory, 0, 512)
    const expected = { status: UNRECOVERED_READ_ERROR, dnr: true }
    for (const opcode of [0x02, COMPARE, VERIFY]) {
      expect(await host.command(1, onBlocks(opcode, 2, 1, pointer))).toMatchObject(expected)
    }
    memory.view.setBigUint64(8, 2n, true)
    const copy = { opcode: COPY, nsid: 1, ...at(host, memory), cdw: { 10: 10, 12: 0 } }
    expect(await host.command(1, copy)).toMatchObject({ ...expected, dw0: 0 })
    expect(await readMarked(host, 0, 1)).toEqual([1])
    expect(await readMarked(host, 3, 1)).toEqual([4])
    expect(await statusOf(host, onBlocks(VERIFY, 3, 1))).toBe(SUCCESS)
    expect(await statusOf(host, onBlocks(VERIFY, END, 1))).toBe(LBA_OUT_OF_RANGE)
  })

  it.each([
    ['Write', (host: TestHost) => writeMarked(host, 1, [9]), 9],
    ['Write Zeroes', (host: TestHost) => host.command(1, onBlocks(WRITE_ZEROES, 1, 1)), 0],
  ])('%s clears the marks of the blocks that it writes only', async (_, clear, expected) => {
    const host = await marked([1, 2, 3])
    await host.command(1, onBlocks(WRITE_UNCORRECTABLE, 0, 3))
    expect((await clear(host)).status).toBe(SUCCESS)
    expect(await readMarked(host, 1, 1)).toEqual([expected])
    expect([await readMarked(host, 0, 1), await readMarked(host, 2, 1)]).toEqual(
      Array.from({ length: 2 }, () => UNRECOVERED_READ_ERROR),
    )
  })

  it('fails once 2^21 blocks are marked, until some are written', async () => {
    const host = await ready({ namespaces: [{ capacityBytes: 2 ** 31 }] })
    const mark = (slba: number, blocks: number) => statusOf(host, onBlocks(WRITE_UNCORRECTABLE, slba, blocks))
    for (let slba = 0; slba < 2 ** 21; slba += 65_536) expect(await mark(slba, 65_536)).toBe(SUCCESS)
    expect(await mark(1000, 65_536)).toBe(SUCCESS)
    expect(await mark(2 ** 21, 1)).toBe(INTERNAL_ERROR)
    expect(await readMarked(host, 2 ** 21, 1)).toEqual([0])
    expect(host.simulation.diagnostics.at(-1)?.text).toMatch(
      /Write Uncorrectable: namespace 1 has 2097152 blocks marked as unreadable, of at most 2097152$/,
    )
    await writeMarked(host, 7, [1])
    expect([await mark(2 ** 21, 1), await mark(7, 1)]).toEqual([SUCCESS, INTERNAL_ERROR])
  })

  it('a Verify ends with Unrecovered Read Error if the media throw', async () => {
    const media: Media = Object.assign(new RamMedia(1 << 20), {
      read: () => {
        throw new Error('no such sector')
      },
    })
    const host = await ready({ namespaces: [{ media }] })
    expect(await statusOf(host, onBlocks(VERIFY, 0, 1))).toBe(UNRECOVERED_READ_ERROR)
  })
})

describe('Copy (NVM 1.2 §3.3.2)', () => {
  /** Copies source ranges in Copy Descriptor Format 0h: SLBA at byte 8; NLB, 0's based, at byte 16. */
  async function copy(
    host: TestHost,
    to: number,
    ranges: readonly (readonly [slba: number, blocks: number])[],
    cdw12 = 0,
  ) {
    const memory = host.alloc(Math.max(4096, ranges.length * 32))
    ranges.forEach(([slba, blocks], i) => {
      memory.view.setBigUint64(i * 32 + 8, BigInt(slba), true)
      memory.view.setUint16(i * 32 + 16, blocks - 1, true)
    })
    const cdw = { 10: to, 12: (((ranges.length - 1) & 0xff) | cdw12) >>> 0 }
    return host.command(1, { opcode: COPY, nsid: 1, ...at(host, memory), cdw })
  }

  it('copies its ranges, in order, to SDLBA', async () => {
    const host = await marked([1, 2, 3, 4, 5])
    expect(await copy(host, 100, [[3, 2], [0, 1]])).toMatchObject({ status: SUCCESS }) // oxfmt-ignore
    expect(await readMarked(host, 99, 5)).toEqual([0, 4, 5, 1, 0])
  })

  it('copies the original data if the destination overlaps a source', async () => {
    const host = await marked([1, 2, 3, 4])
    expect((await copy(host, 1, [[0, 3]])).status).toBe(SUCCESS)
    expect(await readMarked(host, 0, 4)).toEqual([1, 1, 2, 3])
  })

  it("has the limits of Identify Namespace: MSSRL 2048, MCL 16384, MSRC 127 (0's based)", async () => {
    const host = await ready()
    const data = host.alloc(4096)
    await host.admin({ opcode: 0x06, nsid: 1, prp1: data.iovaAt(0) })
    const { view } = data
    expect([view.getUint16(74, true), view.getUint32(76, true), view.getUint8(80)]).toEqual([2048, 16_384, 127])
    expect((await copy(host, 0, [[0, 2048]])).status).toBe(SUCCESS)
    const many = (count: number, blocks: number) => Array.from({ length: count }, (): [number, number] => [0, blocks])
    expect((await copy(host, 0, many(8, 2048))).status).toBe(SUCCESS)
    expect((await copy(host, 0, many(128, 1))).status).toBe(SUCCESS)
  })

  it.each([
    ['a range of 2049 blocks', 0, [[0, 2049]], 0, SIZE_LIMIT_EXCEEDED],
    ['16,385 blocks in all', 0, [...Array.from({ length: 8 }, () => [0, 2048]), [0, 1]], 0, SIZE_LIMIT_EXCEEDED],
    ['129 ranges', 0, Array.from({ length: 129 }, () => [0, 1]), 0, SIZE_LIMIT_EXCEEDED],
    ['a source outside of the namespace', 0, [[END - 1, 2]], 0, LBA_OUT_OF_RANGE],
    ['a destination outside of the namespace', END - 1, [[0, 2]], 0, LBA_OUT_OF_RANGE],
    ['Descriptor Format 1h', 0, [[0, 1]], 1 << 8, INVALID_FIELD],
    ['Descriptor Format 2h', 0, [[0, 1]], 2 << 8, INVALID_FIELD],
    ['a reserved Descriptor Format', 0, [[0, 1]], 15 << 8, INVALID_FIELD],
  ] as const)('rejects %s, and copies nothing', async (_, to, ranges, cdw12, status) => {
    const host = await marked([1, 2])
    const given = ranges.map(([slba, blocks]): [number, number] => [slba, blocks])
    expect(await copy(host, to, given, cdw12)).toMatchObject({ status, dnr: true, dw0: 0 })
    expect(await readMarked(host, 0, 2)).toEqual([1, 2])
  })
})

describe('a write protected namespace', () => {
  it.each([
    ['Write Zeroes', WRITE_ZEROES, {}],
    ['Write Uncorrectable', WRITE_UNCORRECTABLE, {}],
    ['Dataset Management that deallocates', DATASET_MANAGEMENT, { 10: 0, 11: 4 }],
    ['Copy', COPY, { 10: 0, 11: 0 }],
  ])('rejects %s', async (_, opcode, cdw) => {
    const media: Media = Object.assign(new RamMedia(1 << 20), { readOnly: true })
    const host = await ready({ namespaces: [{ media }] })
    expect(await statusOf(host, onBlocks(opcode, 0, 1, { ...at(host, host.alloc(4096)), cdw }))).toBe(WRITE_PROTECTED)
  })
})

describe('Force Unit Access (CDW12 bit 30)', () => {
  it.each([
    ['Read', 0x02],
    ['Write', 0x01],
    ['Compare', COMPARE],
    ['Verify', VERIFY],
  ])('flushes the media for a %s, which otherwise does not', async (_, opcode) => {
    let flushed = 0
    const media: Media = Object.assign(new RamMedia(1 << 20), {
      flush: () => {
        flushed++
      },
    })
    const host = await ready({ namespaces: [{ media }] })
    const pointer = at(host, host.alloc(4096), 0, 512)
    expect(await statusOf(host, onBlocks(opcode, 0, 1, pointer))).toBe(SUCCESS)
    expect(flushed).toBe(0)
    expect(await statusOf(host, onBlocks(opcode, 0, 1, pointer, 1 << 30))).toBe(SUCCESS)
    expect(flushed).toBe(1)
  })
})

it('a CETYPE other than 0 is ignored and reported: no namespace supports Key Per I/O', async () => {
  const host = await ready()
  const pointer = at(host, host.alloc(4096), 0, 512)
  expect(await statusOf(host, onBlocks(0x02, 0, 1, pointer, 1 << 16))).toBe(SUCCESS)
  expect(textsOf(host.simulation.diagnostics)).toEqual([
    'CETYPE is 1h, but no namespace supports Key Per I/O: it is ignored',
  ])
})

it.each([
  ['Read', 0x02],
  ['Write', 0x01],
])('a memory access fault in media during a %s is a Data Transfer Error, not a media error', async (_, opcode) => {
  const fault = () => {
    throw Object.assign(new Error('EFAULT: bad address in system call argument'), { code: 'EFAULT' })
  }
  const media: Media = Object.assign(new RamMedia(1 << 20), { read: fault, write: fault })
  const host = await ready({ namespaces: [{ media }] })
  const pointer = at(host, host.alloc(4096), 0, 512)
  expect(await statusOf(host, onBlocks(opcode, 0, 1, pointer))).toBe(DATA_TRANSFER_ERROR)
  expect(textsOf(host.simulation.diagnostics)).toEqual([
    "the host's memory: Error: EFAULT: bad address in system call argument",
  ])
  const log = host.alloc(512)
  await host.admin({ opcode: 0x02, nsid: 0xffff_ffff, prp1: log.iovaAt(0), cdw: { 10: 0x02 | (127 << 16) } })
  // Media and Data Integrity Errors (Base 2.3 §5.2.12.1.3).
  expect(log.view.getBigUint64(160, true)).toBe(0n)
})
