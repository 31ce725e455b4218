import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../conformance/raw-host/entry.js'
import { textsOf } from '../../test/diagnostics.js'
import { bytesOf, fillPattern, ready, type TestHost } from '../../test/host.js'
import { onBlocks, qword } from '../../test/nvm.js'

const SUCCESS = '0/00'
const INVALID_FIELD = '0/02'
const DATA_TRANSFER_ERROR = '0/04'
const INVALID_SEGMENT = '0/0d'
const INVALID_NUMBER = '0/0e'
const DATA_LENGTH_INVALID = '0/0f'
const METADATA_LENGTH_INVALID = '0/10'
const TYPE_INVALID = '0/11'

/** SGL Descriptor Types, bits 7:4 of byte 15 (Base 2.1 §4.3.2). */
const DATA_BLOCK = 0x00
const BIT_BUCKET = 0x10
const SEGMENT = 0x20
const LAST_SEGMENT = 0x30

interface Descriptor {
  readonly type: number
  readonly address?: number | bigint
  readonly length: number
}

/** PSDT, bits 15:14 of CDW0. */
const SGL = 1 << 14
const SGL_WITH_MPTR_SEGMENT = 2 << 14

function put(view: DataView, at: number, { type, address = 0, length }: Descriptor): void {
  view.setBigUint64(at, BigInt(address), true)
  view.setUint32(at + 8, length, true)
  view.setUint32(at + 12, type << 24, true)
}

/** Returns the entry with SGL1 in dwords 6 to 9. */
function withSgl(entry: Entry, sgl1: Descriptor, psdt = SGL): Entry {
  const view = new DataView(new ArrayBuffer(16))
  put(view, 0, sgl1)
  const dwords = Object.fromEntries([6, 7, 8, 9].map((dword, i) => [dword, view.getUint32(i * 4, true)]))
  return { ...entry, cdw: { ...entry.cdw, 0: psdt, ...dwords } }
}

/** Stores descriptors as a segment in new memory. Returns a descriptor of the segment. */
function segment(host: TestHost, descriptors: readonly Descriptor[], type = LAST_SEGMENT): Descriptor {
  const memory = host.alloc(descriptors.length * 16, true)
  descriptors.forEach((each, i) => put(memory.view, i * 16, each))
  return { type, address: memory.iovaAt(0), length: memory.lengthBytes }
}

/** Returns a host whose first 64 blocks contain a pattern, and the pattern. */
async function patterned(): Promise<{ host: TestHost; pattern: Uint8Array }> {
  const host = await ready()
  const memory = host.alloc(64 * 512, true)
  fillPattern(memory)
  const entry = withSgl(onBlocks(0x01, 0, 64), { type: DATA_BLOCK, address: memory.iovaAt(0), length: 64 * 512 })
  expect((await host.command(1, entry)).status).toBe(SUCCESS)
  return { host, pattern: bytesOf(memory) }
}

describe('a valid Scatter Gather List (Base 2.1 §4.3.2)', () => {
  it('may be a data block in SGL1 of any alignment and length', async () => {
    const { host, pattern } = await patterned()
    const memory = host.alloc(8192, true)
    bytesOf(memory).fill(0xa5)
    const sgl1 = { type: DATA_BLOCK, address: memory.iovaAt(4093), length: 1025 }
    expect((await host.command(1, withSgl(onBlocks(0x02, 3, 2), sgl1))).status).toBe(SUCCESS)
    expect(Buffer.compare(bytesOf(memory, 4093, 1024), pattern.subarray(3 * 512, 5 * 512))).toBe(0)
    expect([bytesOf(memory)[4092], bytesOf(memory)[4093 + 1024]]).toEqual([0xa5, 0xa5])
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('of a Read may have a bit bucket, whose data is discarded and does not cross the link', async () => {
    const { host, pattern } = await patterned()
    const memory = host.alloc(4096, true)
    const list = segment(host, [
      { type: DATA_BLOCK, address: memory.iovaAt(0), length: 100 },
      { type: BIT_BUCKET, length: 300 },
      { type: DATA_BLOCK, address: memory.iovaAt(1000), length: 112 },
    ])
    expect((await host.command(1, withSgl(onBlocks(0x02, 0, 1), list))).status).toBe(SUCCESS)
    expect(bytesOf(memory, 0, 100)).toEqual(pattern.subarray(0, 100))
    expect(bytesOf(memory, 100, 900).every((byte) => byte === 0)).toBe(true)
    expect(bytesOf(memory, 1000, 112)).toEqual(pattern.subarray(400, 512))
    expect(host.simulation.statistics.bytesRead).toBe(212)
  })

  it('of a Write may have a bit bucket, which has no effect and no length', async () => {
    const { host, pattern } = await patterned()
    const memory = host.alloc(512, true)
    bytesOf(memory).set(pattern.subarray(512, 1024))
    const list = segment(host, [
      { type: BIT_BUCKET, length: 4096 },
      { type: DATA_BLOCK, address: memory.iovaAt(0), length: 512 },
    ])
    expect((await host.command(1, withSgl(onBlocks(0x01, 40, 1), list))).status).toBe(SUCCESS)
    expect((await host.command(1, withSgl(onBlocks(0x05, 40, 1), list))).status).toBe(SUCCESS)
    const short = segment(host, [{ type: BIT_BUCKET, length: 512 }])
    expect((await host.command(1, withSgl(onBlocks(0x01, 40, 1), short))).status).toBe(DATA_LENGTH_INVALID)
  })

  it('may describe the data of Dataset Management and Copy', async () => {
    const { host } = await patterned()
    const list = host.alloc(64, true)
    list.view.setUint32(4, 1, true)
    const sgl1 = { type: DATA_BLOCK, address: list.iovaAt(0), length: 64 }
    const deallocate = withSgl({ opcode: 0x09, nsid: 1, cdw: { 10: 0, 11: 4 } }, sgl1)
    expect((await host.command(1, deallocate)).status).toBe(SUCCESS)
    const copy = withSgl({ opcode: 0x19, nsid: 1, cdw: { 10: 9, 12: 0 } }, sgl1)
    expect((await host.command(1, copy)).status).toBe(SUCCESS)
  })

  it('is reported, but accepted, if an SGL Segment descriptor describes its last segment', async () => {
    const { host } = await patterned()
    const memory = host.alloc(512, true)
    const list = segment(host, [{ type: DATA_BLOCK, address: memory.iovaAt(0), length: 512 }], SEGMENT)
    expect((await host.command(1, withSgl(onBlocks(0x02, 0, 1), list))).status).toBe(SUCCESS)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      expect.stringMatching(/is the last one, but an SGL Segment descriptor/),
    ])
  })
})

describe('the number of descriptors', () => {
  // 262,144 with the descriptor in the entry, and one more.
  it.each([
    [262_143, SUCCESS],
    [262_144, INVALID_NUMBER],
  ])('is limited: %i in addition to SGL1 end with status %s', async (count, status) => {
    const host = await ready()
    const list = host.alloc(count * 16, true)
    put(list.view, (count - 1) * 16, { type: DATA_BLOCK, address: host.alloc(512).iovaAt(0), length: 512 })
    const sgl1 = { type: LAST_SEGMENT, address: list.iovaAt(0), length: count * 16 }
    expect((await host.command(1, withSgl(onBlocks(0x02, 0, 1), sgl1))).status).toBe(status)
  })
})

describe('rejects, without transferring data,', () => {
  type Make = (host: TestHost, data: number) => Descriptor
  const block = (address: number, length: number): Descriptor => ({ type: DATA_BLOCK, address, length })

  it.each<[string, Make, string]>([
    ['an SGL shorter than the data', (_, data) => block(data, 511), DATA_LENGTH_INVALID],
    ['a single NULL descriptor', () => block(0, 0), DATA_LENGTH_INVALID],
    ['a keyed data block, type 4h', (_, data) => ({ ...block(data, 512), type: 0x40 }), TYPE_INVALID],
    ['a transport data block, type 5h', (_, data) => ({ ...block(data, 512), type: 0x50 }), TYPE_INVALID],
    ['a reserved type, Eh', (_, data) => ({ ...block(data, 512), type: 0xe0 }), TYPE_INVALID],
    ['a vendor specific type', (_, data) => ({ ...block(data, 512), type: 0xf0 }), TYPE_INVALID],
    ['an offset, sub type 1h', (_, data) => ({ ...block(data, 512), type: 0x01 }), TYPE_INVALID],
    ['a bit bucket of sub type 1h', () => ({ type: 0x11, length: 512 }), TYPE_INVALID],
    [
      'an invalid type after the end of the data',
      (host, data) => segment(host, [block(data, 512), { type: 0xe0, length: 0 }]),
      TYPE_INVALID,
    ],
    [
      'a segment pointer that is not the last descriptor',
      (host, data) => segment(host, [segment(host, [block(data, 512)]), block(data, 512)], SEGMENT),
      INVALID_NUMBER,
    ],
    [
      'a segment pointer in the last segment',
      (host, data) => segment(host, [segment(host, [block(data, 512)], SEGMENT)], LAST_SEGMENT),
      INVALID_SEGMENT,
    ],
    [
      'a last segment pointer in the last segment',
      (host, data) => segment(host, [segment(host, [block(data, 512)])], LAST_SEGMENT),
      INVALID_SEGMENT,
    ],
    ['a segment of 0 bytes', (host) => ({ ...segment(host, [block(0, 0)]), length: 0 }), INVALID_SEGMENT],
    [
      'a segment of 24 bytes',
      (host) => ({ ...segment(host, [block(0, 0), block(0, 0)]), length: 24 }),
      INVALID_SEGMENT,
    ],
    [
      'a segment that is not qword aligned',
      (host, data) => {
        const list = segment(host, [block(data, 512), block(data, 512)])
        return { ...list, address: Number(list.address) + 4, length: 16 }
      },
      INVALID_SEGMENT,
    ],
    ['a data block without memory', () => block(0x1000, 512), DATA_TRANSFER_ERROR],
    ['a segment without memory', () => ({ type: LAST_SEGMENT, address: 0x1000, length: 16 }), DATA_TRANSFER_ERROR],
    [
      'a data block that ends beyond 2^64',
      () => ({ type: DATA_BLOCK, address: 0xffff_ffff_ffff_ff00n, length: 0x101 }),
      DATA_LENGTH_INVALID,
    ],
    [
      'a data block that ends exactly at 2^64, without memory',
      () => ({ type: DATA_BLOCK, address: 0xffff_ffff_ffff_fe00n, length: 0x200 }),
      DATA_TRANSFER_ERROR,
    ],
    [
      'a segment that points to itself',
      (host) => {
        const memory = host.alloc(16, true)
        const self = { type: SEGMENT, address: memory.iovaAt(0), length: 16 }
        put(memory.view, 0, self)
        return self
      },
      INVALID_NUMBER,
    ],
  ])('%s', async (_, make, status) => {
    const { host } = await patterned()
    const memory = host.alloc(4096, true)
    bytesOf(memory).fill(0xa5)
    const entry = withSgl(onBlocks(0x02, 0, 1), make(host, memory.iovaAt(0)))
    expect(await host.command(1, entry)).toMatchObject({ status, dnr: status !== DATA_TRANSFER_ERROR })
    expect(bytesOf(memory).every((byte) => byte === 0xa5)).toBe(true)
    expect(host.simulation.diagnostics).toHaveLength(1)
  })

  it('a descriptor without memory, with a diagnostic that names the command and the descriptor', async () => {
    const host = await ready()
    const memory = host.alloc(512, true)
    const list = segment(host, [block(memory.iovaAt(0), 256), block(0x5000, 256)])
    await host.command(1, { ...withSgl(onBlocks(0x02, 0, 1), list), cid: 7 })
    await host.command(1, { ...withSgl(onBlocks(0x02, 0, 1), block(0x5000, 512)), cid: 8 })
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      `SQ 1 CID 0x7 Read: SGL descriptor 1 of the segment at 0x${list.address!.toString(16)} 0x5000, 256 bytes: ` +
        'no memory there, it was never allocated',
      'SQ 1 CID 0x8 Read: SGL1 0x5000, 512 bytes: no memory there, it was never allocated',
    ])
  })

  it('PSDT 11b, which is reserved; a command without data ignores PSDT', async () => {
    const host = await ready()
    const sgl1 = block(host.alloc(512).iovaAt(0), 512)
    expect((await host.command(1, withSgl(onBlocks(0x02, 0, 1), sgl1, 3 << 14))).status).toBe(INVALID_FIELD)
    expect((await host.command(1, { opcode: 0, nsid: 1, cdw: { 0: SGL } })).status).toBe(SUCCESS)
  })

  it('SGLs in Admin commands', async () => {
    const host = await ready()
    const entry = withSgl({ opcode: 0x06, cdw: { 10: 1 } }, block(host.alloc(4096).iovaAt(0), 4096))
    expect((await host.admin(entry)).status).toBe(INVALID_FIELD)
  })
})

describe('metadata and SGLs (Base 2.1 §4.1.1)', () => {
  async function withMetadata() {
    const host = await ready({ namespaces: [{ metadataBytes: 8 }] })
    const data = host.alloc(1024, true)
    const metadata = host.alloc(64, true)
    return { host, metadata, sgl1: { type: DATA_BLOCK, address: data.iovaAt(0), length: 1024 } }
  }

  it('PSDT 01b: MPTR is the address of a contiguous buffer of any alignment', async () => {
    const { host, metadata, sgl1 } = await withMetadata()
    bytesOf(metadata, 3, 16).fill(6)
    const write = withSgl(onBlocks(0x01, 0, 2, { cdw: qword(4, metadata.iovaAt(3)) }), sgl1)
    expect((await host.command(1, write)).status).toBe(SUCCESS)
    const read = withSgl(onBlocks(0x02, 0, 2, { cdw: qword(4, metadata.iovaAt(41)) }), sgl1)
    expect((await host.command(1, read)).status).toBe(SUCCESS)
    expect([40, 41, 56, 57].map((at) => bytesOf(metadata)[at])).toEqual([0, 6, 6, 0])
  })

  it('PSDT 10b: MPTR points to a segment of one descriptor, which may point to further segments', async () => {
    const { host, metadata, sgl1 } = await withMetadata()
    bytesOf(metadata, 0, 16).set(Array.from({ length: 16 }, (_, i) => i + 1))
    const one = segment(host, [{ type: DATA_BLOCK, address: metadata.iovaAt(0), length: 16 }])
    const write = onBlocks(0x01, 0, 2, { cdw: qword(4, Number(one.address)) })
    expect((await host.command(1, withSgl(write, sgl1, SGL_WITH_MPTR_SEGMENT))).status).toBe(SUCCESS)
    const pieces = segment(host, [
      { type: DATA_BLOCK, address: metadata.iovaAt(50), length: 3 },
      { type: BIT_BUCKET, length: 9 },
      { type: DATA_BLOCK, address: metadata.iovaAt(32), length: 4 },
    ])
    const first = segment(host, [pieces])
    const read = onBlocks(0x02, 0, 2, { cdw: qword(4, Number(first.address)) })
    expect((await host.command(1, withSgl(read, sgl1, SGL_WITH_MPTR_SEGMENT))).status).toBe(SUCCESS)
    expect([...bytesOf(metadata, 50, 3), ...bytesOf(metadata, 32, 4)]).toEqual([1, 2, 3, 13, 14, 15, 16])
  })

  it('a short metadata SGL is Metadata SGL Length Invalid; an unaligned segment is Invalid Field', async () => {
    const { host, metadata, sgl1 } = await withMetadata()
    const short = segment(host, [{ type: DATA_BLOCK, address: metadata.iovaAt(0), length: 15 }])
    const read = (pointer: number) =>
      host.command(1, withSgl(onBlocks(0x02, 0, 2, { cdw: qword(4, pointer) }), sgl1, SGL_WITH_MPTR_SEGMENT))
    expect((await read(Number(short.address))).status).toBe(METADATA_LENGTH_INVALID)
    expect((await read(Number(short.address) + 4)).status).toBe(INVALID_FIELD)
    expect((await read(0x1000)).status).toBe(DATA_TRANSFER_ERROR)
  })
})

it('Identify Controller reports the SGL support: SGLS is 000F0001h', async () => {
  const host = await ready()
  const data = host.alloc(4096)
  await host.admin({ opcode: 0x06, prp1: data.iovaAt(0), cdw: { 10: 1 } })
  expect(data.view.getUint32(536, true)).toBe(0x000f_0001)
})

/** A part of an SGL: data or a bit bucket, the gap before it in memory, and whether it ends its segment. */
const piece = fc.record({
  length: fc.oneof(fc.nat(700), fc.constantFrom(0, 1, 512, 4096)),
  isBucket: fc.boolean(),
  endsSegment: fc.boolean(),
  gap: fc.nat(9),
})

it('any SGL transfers each byte to the address that an independent model computes', async () => {
  const host = await ready()
  const pattern = host.alloc(64 * 512, true)
  fillPattern(pattern)
  const whole = { type: DATA_BLOCK, address: pattern.iovaAt(0), length: 64 * 512 }
  await host.command(1, withSgl(onBlocks(0x01, 0, 64), whole))
  const property = fc.asyncProperty(
    fc.array(piece, { minLength: 1, maxLength: 24 }),
    fc.integer({ min: 1, max: 8 }),
    async (pieces, blocks) => {
      const bytes = blocks * 512
      // The last piece is long enough for the remaining data.
      const list = [...pieces, { length: bytes, isBucket: false, endsSegment: false, gap: 0 }]
      const memory = host.alloc(
        list.reduce((sum, each) => sum + each.length + each.gap, 0),
        true,
      )
      // The model works byte by byte, without runs or segments.
      const expected = new Uint8Array(memory.lengthBytes)
      const descriptors: Descriptor[] = []
      let place = 0
      let done = 0
      for (const { length, isBucket, gap } of list) {
        place += gap
        for (let i = 0; i < length && done < bytes; i++, done++) {
          if (!isBucket) expected[place + i] = bytesOf(pattern)[done]!
        }
        descriptors.push(
          isBucket ? { type: BIT_BUCKET, length } : { type: DATA_BLOCK, address: memory.iovaAt(0) + place, length },
        )
        place += length
      }
      const segments: Descriptor[][] = [[]]
      list.forEach(({ endsSegment }, i) => {
        segments.at(-1)!.push(descriptors[i]!)
        if (endsSegment && i < list.length - 1) segments.push([])
      })
      let next: Descriptor | undefined
      for (const each of segments.toReversed()) {
        next = segment(host, next ? [...each, next] : each, next ? SEGMENT : LAST_SEGMENT)
      }
      const { status } = await host.command(1, withSgl(onBlocks(0x02, 0, blocks), next!))
      expect(status).toBe(SUCCESS)
      expect(Buffer.compare(bytesOf(memory), expected)).toBe(0)
      memory.free()
    },
  )
  await fc.assert(property, { numRuns: 300 })
  expect(host.simulation.diagnostics).toEqual([])
})
