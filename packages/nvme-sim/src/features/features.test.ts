import { describe, expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { textsOf } from '../../test/diagnostics.js'
import { bytesOf, enabled, prps, ready, TestHost } from '../../test/host.js'
import { deriveProfile, RamMedia } from '../index.js'

const SUCCESS = '0/00'
const INVALID_FIELD = '0/02'
const INVALID_NAMESPACE = '0/0b'
const NOT_SAVEABLE = '1/0d'
const NOT_NAMESPACE_SPECIFIC = '1/0f'
const ALL = 0xffff_ffff

const DEFAULT = 1
const SAVED = 2
const CAPABILITIES = 3

const set = (host: TestHost, fid: number, cdw11: number, { sv = false, nsid = 0 } = {}) =>
  host.admin({ opcode: 0x09, nsid, cdw: { 10: fid | (sv ? 0x8000_0000 : 0), 11: cdw11 } })

const get = (host: TestHost, fid: number, { sel = 0, cdw11 = 0, nsid = 0 } = {}) =>
  host.admin({ opcode: 0x0a, nsid, cdw: { 10: fid | (sel << 8), 11: cdw11 } })

/** Executes Set or Get Features with a data buffer. */
async function withData(host: TestHost, opcode: 0x09 | 0x0a, fid: number, given: readonly number[] = [], sel = 0) {
  const memory = host.alloc(4096)
  const bytes = bytesOf(memory)
  bytes.fill(opcode === 0x0a ? 0xa5 : 0)
  bytes.set(given)
  const { status } = await host.admin({ opcode, prp1: memory.iovaAt(0), cdw: { 10: fid | (sel << 8) } })
  return { status, bytes }
}

describe('features of an I/O controller (Base 2.3 §3.1.3.6)', () => {
  it.each([0x01, 0x02, 0x04, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x0b])('FID %i is supported', async (fid) => {
    expect((await get(await enabled(), fid)).status).toBe(SUCCESS)
  })

  it.each([0x00, 0x03, 0x0c, 0x0d, 0x0f, 0x10, 0x80, 0x81, 0xc0, 0xff])(
    'FID %i is not supported: Invalid Field in Command for Set and Get Features',
    async (fid) => {
      const host = await enabled()
      expect([(await get(host, fid)).status, (await set(host, fid, 0)).status]).toEqual([INVALID_FIELD, INVALID_FIELD])
    },
  )

  it.each([4, 5, 6, 7])('SEL %i is reserved: Invalid Field in Command', async (sel) => {
    expect((await get(await enabled(), 0x01, { sel })).status).toBe(INVALID_FIELD)
  })
})

describe('values of a feature (Base 2.3 §4.4)', () => {
  it.each([
    ['Arbitration', 0x01, 0x0302_0105, 0x0000_0000],
    ['Volatile Write Cache', 0x06, 0, 1],
    ['Interrupt Coalescing', 0x08, 0x0a05, 0],
    ['Write Atomicity Normal', 0x0a, 1, 0],
    ['Asynchronous Event Configuration', 0x0b, 0x0102, 0],
    ['Temperature Threshold, over', 0x04, 350, 343],
  ])('%s can be set, and has its default again after a reset', async (_, fid, value, byDefault) => {
    const host = await enabled()
    expect((await set(host, fid, value)).status).toBe(SUCCESS)
    expect(await get(host, fid)).toMatchObject({ status: SUCCESS, dw0: value })
    expect((await get(host, fid, { sel: DEFAULT })).dw0).toBe(byDefault)
    expect((await get(host, fid, { sel: SAVED })).dw0).toBe(byDefault)
    await host.disable()
    await host.enable()
    expect((await get(host, fid)).dw0).toBe(byDefault)
  })

  it('saved values survive resets of the controller and of the NVM subsystem', async () => {
    const host = await enabled()
    await set(host, 0x08, 0x0203, { sv: true })
    await set(host, 0x08, 0x0405)
    expect((await get(host, 0x08)).dw0).toBe(0x0405)
    expect((await get(host, 0x08, { sel: SAVED })).dw0).toBe(0x0203)
    await host.disable()
    await host.enable()
    expect((await get(host, 0x08)).dw0).toBe(0x0203)
    host.bar.write32(0x20, 0x4e56_4d65)
    await host.pass(1)
    await host.enable()
    expect((await get(host, 0x08)).dw0).toBe(0x0203)
  })

  it('reserved bits are dropped with a diagnostic, although the command succeeds', async () => {
    const host = await enabled()
    await set(host, 0x01, 0x0302_01fd)
    expect((await get(host, 0x01)).dw0).toBe(0x0302_0105)
    expect(textsOf(host.simulation.diagnostics)).toEqual(['host set reserved bits of Arbitration.CDW11: 0xf8'])
  })

  it.each([0x02, 0x07, 0x0e, 0x16])('FID %i is not saveable', async (fid) => {
    const host = await enabled()
    expect((await set(host, fid, 0, { sv: true })).status).toBe(NOT_SAVEABLE)
    expect((await get(host, fid, { sel: CAPABILITIES })).dw0).toBe(0b100)
  })

  it.each([0x01, 0x04, 0x06, 0x08, 0x0a, 0x0b])(
    'FID %i is saveable, changeable and controller specific',
    async (fid) => {
      expect((await get(await enabled(), fid, { sel: CAPABILITIES })).dw0).toBe(0b101)
    },
  )

  it('Error Recovery is saveable, changeable and namespace specific', async () => {
    expect((await get(await enabled(), 0x05, { sel: CAPABILITIES, nsid: 1 })).dw0).toBe(0b111)
  })
})

describe('NSID of Set and Get Features (Base 2.3 §4.4)', () => {
  it.each([
    [0, SUCCESS, SUCCESS],
    [ALL, SUCCESS, SUCCESS],
    [1, NOT_NAMESPACE_SPECIFIC, SUCCESS],
    [2, NOT_NAMESPACE_SPECIFIC, SUCCESS],
    [9, INVALID_NAMESPACE, INVALID_NAMESPACE],
  ])('for a controller specific feature, NSID %i: Set %s, Get %s', async (nsid, setStatus, getStatus) => {
    const host = await enabled({ namespaces: [{ nsid: 1 }, { nsid: 3 }] })
    expect((await set(host, 0x08, 0, { nsid })).status).toBe(setStatus)
    expect((await get(host, 0x08, { nsid })).status).toBe(getStatus)
  })

  it.each([
    ['an active namespace', 1, SUCCESS, SUCCESS],
    ['all namespaces', ALL, SUCCESS, INVALID_NAMESPACE],
    ['an inactive namespace', 2, INVALID_FIELD, INVALID_FIELD],
    ['an invalid namespace', 9, INVALID_NAMESPACE, INVALID_NAMESPACE],
    ['no namespace', 0, INVALID_NAMESPACE, INVALID_NAMESPACE],
  ])('for Error Recovery of %s, NSID %i: Set %s, Get %s', async (_, nsid, setStatus, getStatus) => {
    const host = await enabled({ namespaces: [{ nsid: 1 }, { nsid: 3 }] })
    expect((await set(host, 0x05, 7, { nsid })).status).toBe(setStatus)
    expect((await get(host, 0x05, { nsid })).status).toBe(getStatus)
  })

  it('selects the namespace of Error Recovery; FFFFFFFFh sets all attached ones', async () => {
    const host = await enabled({ namespaces: [{ nsid: 1 }, { nsid: 3 }] })
    const both = async () => [(await get(host, 0x05, { nsid: 1 })).dw0, (await get(host, 0x05, { nsid: 3 })).dw0]
    await set(host, 0x05, 20, { nsid: 3 })
    expect(await both()).toEqual([0, 20])
    await set(host, 0x05, 30, { nsid: ALL })
    expect(await both()).toEqual([30, 30])
  })
})

describe('Power Management (Base 2.3 §5.2.26.1.2)', () => {
  it('accepts power state 0, the only one, with a workload hint; others are an Invalid Field', async () => {
    const host = await enabled()
    expect((await set(host, 0x02, 0x20)).status).toBe(SUCCESS)
    expect((await get(host, 0x02)).dw0).toBe(0x20)
    expect((await set(host, 0x02, 1)).status).toBe(INVALID_FIELD)
  })
})

describe('Temperature Threshold (Base 2.3 §5.2.26.1.3)', () => {
  it('has an over and an under threshold of the composite temperature', async () => {
    const host = await enabled()
    await set(host, 0x04, 0x0010_0000 | 250)
    await set(host, 0x04, 350)
    expect((await get(host, 0x04, { cdw11: 0x0010_0000 })).dw0).toBe(250)
    expect((await get(host, 0x04)).dw0).toBe(350)
  })

  it('can be set for all sensors (Fh), but not read for them', async () => {
    const host = await enabled()
    expect((await set(host, 0x04, 0x000f_0000 | 351)).status).toBe(SUCCESS)
    expect((await get(host, 0x04)).dw0).toBe(351)
    expect((await get(host, 0x04, { cdw11: 0x000f_0000 })).status).toBe(INVALID_FIELD)
  })

  it.each([
    ['an unimplemented sensor', 0x0001_0000],
    ['a reserved threshold type', 0x0020_0000],
    ['a hysteresis, with TMPTHMH 0h', 0x0040_0000],
  ])('rejects %s', async (_, cdw11) => {
    expect((await set(await enabled(), 0x04, cdw11 | 350)).status).toBe(INVALID_FIELD)
  })
})

describe('Volatile Write Cache (Base 2.3 §5.2.26.1.4)', () => {
  it('is an Invalid Field for Set and Get Features on a drive without a cache', async () => {
    const host = await enabled({ profile: deriveProfile('ideal', { identify: { VWC: 0 } }) })
    expect((await set(host, 0x06, 1)).status).toBe(INVALID_FIELD)
    for (const sel of [0, DEFAULT, SAVED, CAPABILITIES]) {
      expect((await get(host, 0x06, { sel })).status).toBe(INVALID_FIELD)
    }
  })
})

describe('Volatile Write Cache of a drive with a cache (Base 2.3 §5.2.26.1.4)', () => {
  it('flushes when it is disabled, and each write is flushed while it is disabled', async () => {
    let flushed = 0
    const media = Object.assign(new RamMedia(1 << 20), { flush: () => flushed++ })
    const host = await ready({ namespaces: [{ media }] })
    const data = prps(host, host.alloc(4096))
    await host.command(1, transfer(0x01, 0, 8, data))
    expect(flushed).toBe(0)
    await set(host, 0x06, 0)
    expect(flushed).toBe(1)
    expect((await host.command(1, transfer(0x01, 0, 8, data))).status).toBe(SUCCESS)
    expect((await host.command(1, { opcode: 0x08, nsid: 1, cdw: { 12: 7 } })).status).toBe(SUCCESS)
    expect(flushed).toBe(3)
    await host.command(1, transfer(0x02, 0, 8, data))
    expect(flushed).toBe(3)
  })
})

describe('Namespace Write Protection Config (Base 2.3 §5.2.26.1.35, §8.1.17)', () => {
  const protect = (host: TestHost, nsid: number, state: number) => set(host, 0x84, state, { nsid })

  it.each([
    ['Write', 0x01],
    ['Write Uncorrectable', 0x04],
    ['Write Zeroes', 0x08],
  ])('%s fails with Namespace is Write Protected until the protection is removed', async (_, opcode) => {
    const host = await ready({ namespaces: [{ nsid: 1 }, { nsid: 2 }] })
    const [prp1, prp2] = prps(host, host.alloc(4096))
    const change = (nsid: number) => host.command(1, { opcode, nsid, prp1, prp2, cdw: { 12: 7 } })
    expect((await protect(host, 1, 1)).status).toBe(SUCCESS)
    expect((await change(1)).status).toBe('0/20')
    expect((await change(2)).status).toBe(SUCCESS)
    await host.command(1, transfer(0x02, 0, 8, [prp1, prp2]))
    expect((await get(host, 0x84, { nsid: 1 })).dw0).toBe(1)
    expect((await protect(host, 1, 0)).status).toBe(SUCCESS)
    expect((await change(1)).status).toBe(SUCCESS)
  })

  it('survives a reset, is reported in NSATTR, and is not saveable', async () => {
    const host = await enabled()
    await protect(host, 1, 1)
    await host.disable()
    await host.enable()
    expect((await get(host, 0x84, { nsid: 1 })).dw0).toBe(1)
    expect((await get(host, 0x84, { nsid: 1, sel: CAPABILITIES })).dw0).toBe(0b110)
    const memory = host.alloc(4096)
    await host.admin({ opcode: 0x06, nsid: 1, prp1: memory.iovaAt(0), cdw: { 10: 0 } })
    expect(memory.view.getUint8(99)).toBe(1)
    expect((await set(host, 0x84, 0, { nsid: 1, sv: true })).status).toBe(NOT_SAVEABLE)
  })

  it.each([2, 3, 4, 7])('state %i is not supported', async (state) => {
    expect((await protect(await enabled(), 1, state)).status).toBe(INVALID_FIELD)
  })

  it('prevents Format NVM and deletion of the namespace', async () => {
    const host = await enabled({ namespaces: [{ nsid: 1 }, { nsid: 2 }] })
    await protect(host, ALL, 1)
    expect((await host.admin({ opcode: 0x80, nsid: 2 })).status).toBe('0/20')
    expect((await host.admin({ opcode: 0x0d, nsid: 2, cdw: { 10: 1 } })).status).toBe('0/20')
  })
})

describe('Number of Queues (Base 2.3 §5.2.26.2.1)', () => {
  it('does not change the allocation between resets', async () => {
    const host = await enabled()
    expect((await set(host, 0x07, 0x0003_0001)).dw0).toBe(0x0003_0001)
    expect((await set(host, 0x07, 0x0007_0007)).dw0).toBe(0x0003_0001)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host set Number of Queues again: the allocation does not change until a reset',
    ])
    await host.disable()
    await host.enable()
    expect((await set(host, 0x07, 0x0007_0007)).dw0).toBe(0x0007_0007)
  })

  it('is all queues again after a reset', async () => {
    const host = await enabled()
    await set(host, 0x07, 0x0000_0000)
    await host.disable()
    await host.enable()
    expect((await get(host, 0x07)).dw0).toBe(0x003f_003f)
    await host.createPair(2, 4)
  })

  it('is all queues by default', async () => {
    const host = await enabled()
    await set(host, 0x07, 0)
    expect((await get(host, 0x07, { sel: DEFAULT })).dw0).toBe(0x003f_003f)
  })
})

describe('Interrupt Vector Configuration (Base 2.3 §5.2.26.2.3)', () => {
  it('applies to the vector of an I/O completion queue; Get Features returns the vector', async () => {
    const host = await enabled()
    const { memory } = host.addCqRing(1, 4)
    const cdw = { 10: 1 | (3 << 16), 11: 3 | (5 << 16) }
    expect((await host.admin({ opcode: 0x05, prp1: memory.iovaAt(0), cdw })).status).toBe(SUCCESS)
    expect((await set(host, 0x09, 0x0001_0005)).status).toBe(SUCCESS)
    expect((await get(host, 0x09, { cdw11: 5 })).dw0).toBe(0x0001_0005)
    expect((await get(host, 0x09, { cdw11: 6 })).dw0).toBe(6)
  })

  it.each([
    ['a vector without an I/O completion queue', 2],
    ['a vector of the Admin queue only', 0],
    ['a vector that does not exist', 0xffff],
  ])('rejects %s', async (_, vector) => {
    expect((await set(await enabled(), 0x09, 0x0001_0000 | vector)).status).toBe(INVALID_FIELD)
  })

  it('cannot be read for a vector that does not exist', async () => {
    expect((await get(await enabled(), 0x09, { cdw11: 0xffff })).status).toBe(INVALID_FIELD)
  })
})

describe('Error Recovery (NVM 1.2 §4.1.3.2)', () => {
  it('rejects DULBE for a namespace with NSFEAT.DAE = 0, and for all namespaces', async () => {
    const host = await enabled()
    for (const nsid of [1, ALL]) expect((await set(host, 0x05, 0x0001_0000, { nsid })).status).toBe(INVALID_FIELD)
  })
})

describe('Asynchronous Event Configuration (Base 2.3 §5.2.26.1.5)', () => {
  it('rejects events of Endurance Groups, which the controller does not support', async () => {
    expect((await set(await enabled(), 0x0b, 1 << 14)).status).toBe(INVALID_FIELD)
  })
})

describe('Timestamp (Base 2.3 §5.2.26.1.7)', () => {
  const time = (bytes: Uint8Array) =>
    Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true) & 0xffff_ffff_ffffn)

  it('counts milliseconds from a reset, origin 000b, until it is set', async () => {
    const host = await enabled()
    await host.pass(2_500_000_000)
    const { status, bytes } = await withData(host, 0x0a, 0x0e)
    expect([status, time(bytes), bytes[6], bytes[7], bytes[8]]).toEqual([SUCCESS, 2500, 0, 0, 0xa5])
  })

  it('continues from the value that was set, origin 001b, until a reset', async () => {
    const host = await enabled()
    // 2024-08-05 in milliseconds since 1970: 19139B4F400h.
    await withData(host, 0x09, 0x0e, [0x00, 0xf4, 0xb4, 0x39, 0x91, 0x01])
    await host.pass(1_000_000_000)
    const { bytes } = await withData(host, 0x0a, 0x0e)
    expect([time(bytes), bytes[6]]).toEqual([0x191_39b4_f400 + 1000, 0b010])
    await host.disable()
    await host.enable()
    const later = (await withData(host, 0x0a, 0x0e)).bytes
    expect([time(later), later[6]]).toEqual([0, 0])
  })

  it('is zero by default', async () => {
    const host = await enabled()
    await withData(host, 0x09, 0x0e, [1, 2, 3, 4, 5, 6])
    expect([...(await withData(host, 0x0a, 0x0e, [], DEFAULT)).bytes.subarray(0, 8)]).toEqual([0, 0, 0, 0, 0, 0, 0, 0])
  })
})

describe('Host Behavior Support (Base 2.3 §5.2.26.1.14)', () => {
  it('is 512 bytes, zero until set; bits 1:0 of CDFE and reserved bytes are dropped', async () => {
    const host = await enabled()
    expect((await withData(host, 0x0a, 0x16)).bytes.subarray(0, 512).every((byte) => byte === 0)).toBe(true)
    expect((await withData(host, 0x09, 0x16, [1, 0, 1, 0, 0x1f, 0, 0xff])).status).toBe(SUCCESS)
    const { bytes } = await withData(host, 0x0a, 0x16)
    expect([...bytes.subarray(0, 8)]).toEqual([1, 0, 1, 0, 0x1c, 0, 0, 0])
    expect([bytes[511], bytes[512]]).toEqual([0, 0xa5])
    await host.disable()
    await host.enable()
    expect((await withData(host, 0x0a, 0x16)).bytes[0]).toBe(0)
  })

  it.each([0, 1, 2, 3])('a value of 2 in byte %i is reserved', async (byte) => {
    const given = [0, 0, 0, 0]
    given[byte] = 2
    expect((await withData(await enabled(), 0x09, 0x16, given)).status).toBe(INVALID_FIELD)
  })

  it('is a Data Transfer Error with data at an address without memory', async () => {
    const host = await enabled()
    expect((await host.admin({ opcode: 0x09, prp1: 0x1000, cdw: { 10: 0x16 } })).status).toBe('0/04')
  })
})
