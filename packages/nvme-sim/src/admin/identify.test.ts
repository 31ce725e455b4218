import { describe, expect, it } from 'vitest'
import { bytesOf, enabled, TestHost } from '../../test/host.js'
import { deriveProfile } from '../index.js'

const SUCCESS = '0/00'
const INVALID_FIELD = '0/02'
const INVALID_NAMESPACE = '0/0b'

async function identify(host: TestHost, cns: number, { nsid = 0, csi = 0 } = {}) {
  const memory = host.alloc(4096)
  bytesOf(memory).fill(0xa5)
  const cdw = { 10: cns, 11: csi * 2 ** 24 }
  const { status } = await host.admin({ opcode: 0x06, nsid, prp1: memory.iovaAt(0), cdw })
  return { status, view: memory.view, bytes: bytesOf(memory) }
}

describe('Identify Controller (Base 2.1 §5.1.13.2.1, Figure 312)', () => {
  it('reports the capabilities of the controller', async () => {
    const { view } = await identify(await enabled(), 0x01)
    const u8 = (at: number) => view.getUint8(at)
    const u16 = (at: number) => view.getUint16(at, true)
    const u32 = (at: number) => view.getUint32(at, true)
    expect(u16(78)).toBe(0) // CNTLID
    expect(u32(92)).toBe(0x100) // OAES: Attached Namespace Attribute Notices
    expect([u8(258), u8(259)]).toEqual([3, 3]) // ACL and AERL: four of each
    expect(u8(260)).toBe(0b011) // FRMW: one slot, read-only
    expect(u8(261)).toBe(0b10_0110) // LPA: effects, extended data, miscellaneous log pages
    expect([u8(262), u8(263)]).toEqual([63, 0]) // ELPE: 64 entries; NPSS: one power state
    expect([u16(266), u16(268)]).toEqual([343, 353]) // WCTEMP, CCTEMP
    expect(u16(320)).toBe(0) // KAS: no Keep Alive
    expect(u32(328)).toBe(0) // SANICAP: no Sanitize
    expect(u8(384)).toBe(0) // TMPTHHA: no hysteresis
    expect(u16(520) & 0b101_0000).toBe(0b101_0000) // ONCS: Save and Select, Timestamp
    expect(u8(525)).toBe(0b111) // VWC: present, Flush takes FFFFFFFFh
    expect(u16(2048)).toBe(825) // power state 0: 8.25 W
  })

  it.each([
    ['OACS Security Send and Receive', 256, 0, [0x81, 0x82]],
    ['OACS Format NVM', 256, 1, [0x80]],
    ['OACS Firmware Commit and Image Download', 256, 2, [0x10, 0x11]],
    ['OACS Namespace Management and Attachment', 256, 3, [0x0d, 0x15]],
    ['OACS Device Self-test', 256, 4, [0x14]],
    ['OACS Directives', 256, 5, [0x19, 0x1a]],
    ['OACS NVMe-MI Send and Receive', 256, 6, [0x1d, 0x1e]],
    ['OACS Virtualization Management', 256, 7, [0x1c]],
    ['OACS Doorbell Buffer Config', 256, 8, [0x7c]],
    ['OACS Get LBA Status', 256, 9, [0x86]],
    ['OACS Lockdown', 256, 10, [0x24]],
    ['KAS Keep Alive', 320, 0, [0x18]],
    ['SANICAP Sanitize', 328, 0, [0x84]],
  ])('%s: the bit is 0 if the opcode is an Invalid Command Opcode', async (_, at, bit, opcodes) => {
    const host = await enabled()
    const isSupported = (((await identify(host, 0x01)).view.getUint16(at, true) >>> bit) & 1) === 1
    for (const opcode of opcodes) expect((await host.admin({ opcode })).status !== '0/01').toBe(isSupported)
  })

  it.each([
    ['Compare', 0, 0x05],
    ['Write Uncorrectable', 1, 0x04],
    ['Dataset Management', 2, 0x09],
    ['Write Zeroes', 3, 0x08],
    ['Reservation Register', 5, 0x0d],
    ['Verify', 7, 0x0c],
    ['Copy', 8, 0x19],
  ])('ONCS %s: bit %i is 0 if opcode %i is an Invalid Command Opcode', async (_, bit, opcode) => {
    const host = await enabled()
    await host.createPair(1, 4)
    const isSupported = (((await identify(host, 0x01)).view.getUint16(520, true) >>> bit) & 1) === 1
    expect((await host.command(1, { opcode, nsid: 1 })).status !== '0/01').toBe(isSupported)
  })

  it('a profile can change its fields', async () => {
    const profile = deriveProfile('ideal', { identify: { VWC: 0, WCTEMP: 350, CNTLID: 7 } })
    const { view } = await identify(await enabled({ profile }), 0x01)
    expect([view.getUint8(525), view.getUint16(266, true), view.getUint16(78, true)]).toEqual([0, 350, 7])
  })
})

describe('Identify of the NVM Command Set (Base 2.1 §5.1.13.2.5 to §5.1.13.2.7)', () => {
  it.each([
    [0x05, 1],
    [0x06, 0],
    [0x07, 0],
  ])('CNS %i with another Command Set Identifier is an Invalid Field', async (cns, nsid) => {
    const host = await enabled()
    expect((await identify(host, cns, { nsid })).status).toBe(SUCCESS)
    for (const csi of [1, 2, 0xff]) expect((await identify(host, cns, { nsid, csi })).status).toBe(INVALID_FIELD)
  })

  it('CNS 05h returns zeroes for an inactive namespace, and rejects an invalid one', async () => {
    const host = await enabled({ namespaces: [{ nsid: 1 }, { nsid: 3 }] })
    const { status, bytes } = await identify(host, 0x05, { nsid: 2 })
    expect([status, bytes.every((byte) => byte === 0)]).toEqual([SUCCESS, true])
    expect((await identify(host, 0x05, { nsid: 9 })).status).toBe(INVALID_NAMESPACE)
    expect((await identify(host, 0x05)).status).toBe(INVALID_NAMESPACE)
  })

  it('CNS 06h: version 1.2 of the NVM Command Set at bytes 23:20, and no limits', async () => {
    const { view, bytes } = await identify(await enabled(), 0x06)
    expect(view.getUint32(20, true)).toBe(0x0001_0200)
    expect(bytes.subarray(0, 20).every((byte) => byte === 0)).toBe(true)
  })

  it('CNS 07h lists the same namespaces as CNS 02h', async () => {
    const host = await enabled({ namespaces: [{ nsid: 2 }, { nsid: 5 }] })
    expect((await identify(host, 0x07, { nsid: 2 })).bytes).toEqual((await identify(host, 0x02, { nsid: 2 })).bytes)
    expect((await identify(host, 0x07, { nsid: 2 })).view.getUint32(0, true)).toBe(5)
    expect((await identify(host, 0x07, { nsid: 0xffff_fffe })).status).toBe(INVALID_NAMESPACE)
  })
})

describe('I/O Command Set Independent Identify Namespace (Base 2.1 §5.1.13.2.8)', () => {
  it('reports an active namespace as ready (NSTAT.NRDY), and returns zeroes for an inactive one', async () => {
    const host = await enabled({ namespaces: [{ nsid: 1 }, { nsid: 3 }] })
    expect((await identify(host, 0x08, { nsid: 3 })).bytes[14]).toBe(1)
    expect((await identify(host, 0x08, { nsid: 2 })).bytes.every((byte) => byte === 0)).toBe(true)
    expect((await identify(host, 0x08, { nsid: 4 })).status).toBe(INVALID_NAMESPACE)
  })
})

describe('Identify of NSID FFFFFFFFh (Base 2.3 §5.2.13.2.5; NVM 1.2 §4.1.5.1)', () => {
  it('CNS 00h returns the supported formats, and no field of a single namespace', async () => {
    const { status, view, bytes } = await identify(await enabled(), 0x00, { nsid: 0xffff_ffff })
    expect(status).toBe(SUCCESS)
    expect(bytes.subarray(0, 25).every((byte) => byte === 0)).toBe(true) // NSZE, NCAP, NUSE, NSFEAT
    expect([view.getUint8(25), view.getUint8(26), view.getUint8(27)]).toEqual([7, 0, 0b11]) // NLBAF, FLBAS, MC
    const formats = Array.from({ length: 9 }, (_, i) => view.getUint32(128 + 4 * i, true))
    const bytes512 = 9 << 16
    const bytes4096 = 12 << 16
    expect(formats).toEqual([0, 8, 16, 64].flatMap((metadata) => [bytes512 | metadata, bytes4096 | metadata]).concat(0))
  })

  it.each([0x05, 0x08])('CNS %i returns no field of a single namespace', async (cns) => {
    const { status, bytes } = await identify(await enabled(), cns, { nsid: 0xffff_ffff })
    expect([status, bytes.every((byte) => byte === 0)]).toEqual([SUCCESS, true])
  })
})

describe('Namespace Identification Descriptor list (Base 2.3 §5.2.13.2.3)', () => {
  it('has EUI64 (1h) and NGUID (2h), if the namespace has them, then UUID (3h) and command set (4h)', async () => {
    const eui64 = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
    const nguid = Uint8Array.from({ length: 16 }, (_, i) => 0x10 + i)
    const { bytes } = await identify(await enabled({ namespaces: [{ eui64, nguid }] }), 0x03, { nsid: 1 })
    expect([...bytes.subarray(0, 12)]).toEqual([1, 8, 0, 0, ...eui64])
    expect([...bytes.subarray(12, 32)]).toEqual([2, 16, 0, 0, ...nguid])
    expect([...bytes.subarray(32, 36)]).toEqual([3, 16, 0, 0])
    expect([...bytes.subarray(52, 57)]).toEqual([4, 1, 0, 0, 0])
    expect(bytes.subarray(57).every((byte) => byte === 0)).toBe(true)
  })
})

describe('Identify for Namespace Management (Base 2.3 §5.2.13.2.9 to §5.2.13.2.12)', () => {
  const host = () => enabled({ namespaces: [{ nsid: 1 }, { nsid: 2, attached: false }, { nsid: 4 }] })

  it('CNS 10h lists the allocated namespaces, attached or not, above the NSID', async () => {
    const { view } = await identify(await host(), 0x10, { nsid: 1 })
    expect([0, 4, 8].map((at) => view.getUint32(at, true))).toEqual([2, 4, 0])
    for (const nsid of [0xffff_fffe, 0xffff_ffff]) {
      expect((await identify(await host(), 0x10, { nsid })).status).toBe(INVALID_NAMESPACE)
    }
  })

  it.each([
    ['attached', 1, SUCCESS, 2 ** 21],
    ['not attached', 2, SUCCESS, 2 ** 21],
    ['not allocated', 3, SUCCESS, 0],
    ['invalid', 9, INVALID_NAMESPACE, undefined],
    ['FFFFFFFFh', 0xffff_ffff, INVALID_NAMESPACE, undefined],
  ])('CNS 11h with an NSID: %s', async (_, nsid, expected, nsze) => {
    const { status, view } = await identify(await host(), 0x11, { nsid })
    expect(status).toBe(expected)
    if (nsze !== undefined) expect(Number(view.getBigUint64(0, true))).toBe(nsze)
  })

  it.each([
    ['attached', 1, SUCCESS, 1],
    ['not attached', 2, SUCCESS, 0],
    ['not allocated', 3, INVALID_FIELD, undefined],
    ['invalid', 9, INVALID_NAMESPACE, undefined],
    ['FFFFFFFFh', 0xffff_ffff, INVALID_FIELD, undefined],
  ])('CNS 12h returns the number of attached controllers for an NSID: %s', async (_, nsid, expected, count) => {
    const { status, view } = await identify(await host(), 0x12, { nsid })
    expect(status).toBe(expected)
    if (count !== undefined) expect(view.getUint16(0, true)).toBe(count)
  })

  it('CNS 13h lists the controller, unless CNTID is above its identifier', async () => {
    const own = await enabled({ profile: deriveProfile('ideal', { identify: { CNTLID: 5 } }) })
    const list = async (cntid: number) => (await identify(own, 0x13 | (cntid << 16))).view
    expect([(await list(5)).getUint16(0, true), (await list(5)).getUint16(2, true)]).toEqual([1, 5])
    expect((await list(6)).getUint16(0, true)).toBe(0)
  })
})
