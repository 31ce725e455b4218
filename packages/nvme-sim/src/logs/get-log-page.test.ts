import { describe, expect, it } from 'vitest'
import { bytesOf, enabled, TestHost } from '../../test/host.js'
import { deriveProfile } from '../index.js'

const SUCCESS = '0/00'
const INVALID_FIELD = '0/02'
const INVALID_LOG_PAGE = '1/09'

interface Part {
  readonly nsid?: number
  readonly dwords?: number
  readonly offset?: number
  /** Command dwords that override the others. */
  readonly cdw?: Readonly<Record<number, number>>
}

/** Executes Get Log Page with 8 KiB of memory filled with A5h. */
async function read(host: TestHost, lid: number, { nsid = 0, dwords = 1024, offset = 0, cdw = {} }: Part = {}) {
  const memory = host.alloc(8192, true)
  bytesOf(memory).fill(0xa5)
  const numd = dwords - 1
  const all = { 10: lid | ((numd & 0xffff) << 16), 11: numd >>> 16, 12: offset, ...cdw }
  const [prp1, prp2] = [memory.iovaAt(0), memory.iovaAt(4096)]
  const { status, more } = await host.admin({ opcode: 0x02, nsid, prp1, prp2, cdw: all })
  return { status, more, view: memory.view, bytes: bytesOf(memory) }
}

const dwordsOf = (view: DataView, count: number, at = 0) =>
  Array.from({ length: count }, (_, i) => view.getUint32(at + i * 4, true))

describe('Get Log Page (Base 2.3 §5.2.12)', () => {
  it.each([0x06, 0x07, 0x0d, 0x13, 0x70, 0x81, 0xc0, 0xff])(
    'LID %i is not supported: Invalid Log Page',
    async (lid) => {
      expect((await read(await enabled(), lid)).status).toBe(INVALID_LOG_PAGE)
    },
  )

  it.each([
    [0, SUCCESS],
    [0xffff_ffff, SUCCESS],
    [1, INVALID_FIELD],
    [7, INVALID_FIELD],
  ])('for pages of the controller, NSID %i: %s', async (nsid, status) => {
    for (const lid of [0x00, 0x01, 0x02, 0x03, 0x05, 0x12]) {
      expect((await read(await enabled(), lid, { nsid })).status).toBe(status)
    }
  })

  it('returns the dwords requested by NUMDU and NUMDL, and changes no memory after them', async () => {
    const { status, bytes } = await read(await enabled(), 0x00, { dwords: 3 })
    expect(status).toBe(SUCCESS)
    expect(bytes.findIndex((byte) => byte === 0xa5)).toBe(12)
  })

  it('returns the page from the Log Page Offset', async () => {
    const host = await enabled()
    const whole = (await read(host, 0x05)).bytes
    const { bytes } = await read(host, 0x05, { dwords: 4, offset: 1028 })
    expect([...bytes.subarray(0, 16)]).toEqual([...whole.subarray(1028, 1044)])
  })

  it('returns a shorter page up to its end', async () => {
    const { status, bytes } = await read(await enabled(), 0x02, { dwords: 2048, offset: 508 })
    expect(status).toBe(SUCCESS)
    expect([...bytes.subarray(0, 5)]).toEqual([0, 0, 0, 0, 0xa5])
  })

  it.each([
    ['an offset after the end', { offset: 516 }],
    ['an offset after the end due to its upper half', { cdw: { 13: 1 } }],
    ['an offset that is not a multiple of four', { offset: 2 }],
    ['an index as offset (OT), which no supported page uses', { cdw: { 14: 1 << 23 } }],
  ])('rejects %s', async (_, part) => {
    expect((await read(await enabled(), 0x02, part)).status).toBe(INVALID_FIELD)
  })

  it('returns nothing for an offset at the end', async () => {
    const { status, bytes } = await read(await enabled(), 0x02, { offset: 512 })
    expect([status, bytes[0]]).toEqual([SUCCESS, 0xa5])
  })

  it('rejects a length above MDTS; without MDTS, the data pointer must describe the whole length', async () => {
    expect((await read(await enabled(), 0x02, { dwords: 2 ** 18 + 1 })).status).toBe(INVALID_FIELD)
    const unlimited = deriveProfile('ideal', { identify: { MDTS: 0 } })
    expect((await read(await enabled({ profile: unlimited }), 0x02, { dwords: 2 ** 30 })).status).toBe('0/13')
  })

  it('ignores UUID Index, Log Specific Parameter and Identifier, and CSI', async () => {
    const host = await enabled()
    const cdw = { 11: 0x1234_0000, 14: 0x0200_0003 }
    expect((await read(host, 0x02, { dwords: 128, cdw })).status).toBe(SUCCESS)
  })
})

describe('Supported Log Pages (Base 2.3 §5.2.12.1.1)', () => {
  it('has bit 0 in the dword of each supported page, and 0h for all others', async () => {
    const host = await enabled()
    const { view } = await read(host, 0x00)
    const supported = dwordsOf(view, 256).flatMap((dword, lid) => (dword === 1 ? [lid] : []))
    expect(supported).toEqual([0x00, 0x01, 0x02, 0x03, 0x04, 0x05, 0x12])
    expect(dwordsOf(view, 256).every((dword) => dword <= 1)).toBe(true)
    for (let lid = 0; lid < 256; lid++) {
      expect((await read(host, lid, { dwords: 1 })).status === SUCCESS).toBe(supported.includes(lid))
    }
  })
})

describe('Firmware Slot Information (Base 2.3 §5.2.12.1.4)', () => {
  it('has slot 1 active with the revision of Identify; the other slots are empty', async () => {
    const { bytes } = await read(await enabled(), 0x03, { dwords: 128 })
    expect(bytes[0]).toBe(0x01)
    expect(Buffer.from(bytes.subarray(8, 16)).toString('latin1')).toBe('1       ')
    expect(bytes.subarray(16, 512).every((byte) => byte === 0)).toBe(true)
  })
})

describe('Commands Supported and Effects (Base 2.3 §5.2.12.1.6)', () => {
  it('reports CSUPP for each Admin command that is not an Invalid Command Opcode, and 0h for all others', async () => {
    const host = await enabled()
    const { view } = await read(host, 0x05)
    for (let opcode = 0; opcode < 256; opcode++) {
      // An Asynchronous Event Request does not complete until an event occurs.
      if (opcode === 0x0c) continue
      const { status } = await host.admin({ opcode })
      expect([opcode, view.getUint32(opcode * 4, true) & 1]).toEqual([opcode, status === '0/01' ? 0 : 1])
      if (status === '0/01') expect(view.getUint32(opcode * 4, true)).toBe(0)
    }
    expect(view.getUint32(0x0c * 4, true) & 1).toBe(1)
  })

  it('reports that Write changes logical blocks (LBCC), but not Read and Flush', async () => {
    const { view } = await read(await enabled(), 0x05)
    expect(dwordsOf(view, 3, 1024)).toEqual([0b01, 0b11, 0b01])
  })

  it('has zeroes in the reserved bytes 4095:2048', async () => {
    const { bytes } = await read(await enabled(), 0x05)
    expect(bytes.subarray(2048, 4096).every((byte) => byte === 0)).toBe(true)
  })
})

describe('Feature Identifiers Supported and Effects (Base 2.3 §5.2.12.1.18)', () => {
  it('reports FSUPP and the scope of each feature that Get Features supports, and 0h for all others', async () => {
    const host = await enabled()
    const { view } = await read(host, 0x12, { dwords: 256 })
    const CONTROLLER = 0x0020_0001
    const NAMESPACE = 0x0010_0001
    const prp1 = host.alloc(4096).iovaAt(0)
    for (let fid = 0; fid < 256; fid++) {
      const { status } = await host.admin({ opcode: 0x0a, nsid: 1, prp1, cdw: { 10: fid } })
      const expected = status !== SUCCESS ? 0 : fid === 0x05 || fid === 0x84 ? NAMESPACE : CONTROLLER
      expect([fid, view.getUint32(fid * 4, true)]).toEqual([fid, expected])
    }
  })

  it('does not report Volatile Write Cache for a drive without a cache', async () => {
    const host = await enabled({ profile: deriveProfile('ideal', { identify: { VWC: 0 } }) })
    expect((await read(host, 0x12, { dwords: 256 })).view.getUint32(0x06 * 4, true)).toBe(0)
  })
})
