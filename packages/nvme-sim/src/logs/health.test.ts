import { describe, expect, it } from 'vitest'
import { transfer } from '../../conformance/raw-host/entry.js'
import { prps, ready, TestHost } from '../../test/host.js'
import { deriveProfile } from '../index.js'

const MINUTE_NS = 60e9
const HOUR_NS = 3600e9

/** Reads SMART / Health Information (LID 02h). */
async function smart(host: TestHost): Promise<DataView> {
  const memory = host.alloc(4096)
  const cdw = { 10: 0x8002 | (127 << 16) }
  const { status } = await host.admin({ opcode: 0x02, nsid: 0xffff_ffff, prp1: memory.iovaAt(0), cdw })
  expect(status).toBe('0/00')
  return memory.view
}

/** Returns a 128-bit counter whose upper half must be zero. */
function counter(view: DataView, at: number): number {
  expect(view.getBigUint64(at + 8, true)).toBe(0n)
  return Number(view.getBigUint64(at, true))
}

async function move(host: TestHost, opcode: 0x01 | 0x02, blocks: number): Promise<string> {
  const memory = host.alloc(blocks * 512)
  return (await host.command(1, transfer(opcode, 0, blocks, prps(host, memory)))).status
}

describe('SMART / Health Information (Base 2.3 §5.2.12.1.3, Figure 210)', () => {
  it('of a new drive has 308 K, 100 % spare and one power cycle; all other counters are 0', async () => {
    const page = await smart(await ready())
    expect(page.getUint8(0)).toBe(0)
    expect(page.getUint16(1, true)).toBe(308)
    expect([3, 4, 5].map((at) => page.getUint8(at))).toEqual([100, 10, 0])
    expect([32, 48, 64, 80, 96, 128, 144, 160, 176].map((at) => counter(page, at))).toEqual(new Array(9).fill(0))
    expect(counter(page, 112)).toBe(1)
    expect(Array.from({ length: 8 }, (_, i) => page.getUint16(200 + 2 * i, true))).toEqual(new Array(8).fill(0))
  })

  it('counts data in thousands of 512 bytes, rounded up, and every command', async () => {
    const host = await ready()
    await move(host, 0x01, 1000)
    expect(counter(await smart(host), 48)).toBe(1)
    await move(host, 0x01, 1)
    await move(host, 0x02, 1)
    const page = await smart(host)
    expect([32, 48, 64, 80].map((at) => counter(page, at))).toEqual([1, 2, 1, 2])
  })

  it('converts blocks of 4096 bytes to units of 512 bytes', async () => {
    const host = await ready({ namespaces: [{ blockBytes: 4096 }] })
    await host.command(1, transfer(0x02, 0, 126, prps(host, host.alloc(126 * 4096))))
    expect(counter(await smart(host), 32)).toBe(2)
  })

  it('does not count data of a failed command', async () => {
    const host = await ready()
    const data = prps(host, host.alloc(4096))
    expect((await host.command(1, transfer(0x01, 2 ** 21, 8, data))).status).toBe('0/80')
    expect(counter(await smart(host), 48)).toBe(0)
  })

  it('counts power on hours of virtual time, and minutes of busy time during I/O commands only', async () => {
    const slow = MINUTE_NS * 3
    const host = await ready({ profile: deriveProfile('ideal', { flushNs: [slow, slow, slow, slow, slow] }) })
    await host.pass(HOUR_NS * 2.5)
    const before = await smart(host)
    expect([counter(before, 96), counter(before, 128)]).toEqual([0, 2])
    for (let i = 0; i < 2; i++) host.submit(1, { opcode: 0, nsid: 1 })
    await host.pass(MINUTE_NS * 2)
    expect(counter(await smart(host), 96)).toBe(2)
    await host.pass(HOUR_NS)
    const after = await smart(host)
    expect([counter(after, 96), counter(after, 128)]).toEqual([6, 3])
  })

  it('does not count busy time for a command after a reset has aborted it', async () => {
    const slow = HOUR_NS
    const host = await ready({ profile: deriveProfile('ideal', { flushNs: [slow, slow, slow, slow, slow] }) })
    host.submit(1, { opcode: 0, nsid: 1 })
    await host.pass(MINUTE_NS * 5)
    await host.disable()
    await host.pass(HOUR_NS)
    await host.enable()
    expect(counter(await smart(host), 96)).toBe(5)
  })

  it('counts media errors and entries of the error log', async () => {
    const status = (nth: number, sc: number) =>
      ({ match: { qid: 1, opcode: 0x02, nth }, action: { kind: 'status', sct: 2, sc } }) as const
    const host = await ready({ faults: { rules: [status(1, 0x81), status(2, 0x85), status(3, 0x82)] } })
    for (let i = 0; i < 4; i++) await move(host, 0x02, 1)
    await host.admin({ opcode: 0xff })
    const page = await smart(host)
    expect([counter(page, 160), counter(page, 176)]).toEqual([2, 3])
  })

  it('keeps its counters across a controller reset', async () => {
    const host = await ready()
    await move(host, 0x01, 1)
    await host.disable()
    await host.enable()
    expect(counter(await smart(host), 80)).toBe(1)
  })
})

describe('the composite temperature', () => {
  it('reaches WCTEMP of Identify when the drive throttles, and falls while it is idle', async () => {
    const thermal = { limitBytes: 8 << 20, coolingBytesPerSecond: 1 << 20, recoveredBytes: 1 << 20, factor: 2 }
    const host = await ready({ profile: deriveProfile('ideal', { thermal }) })
    const kelvins = async () => (await smart(host)).getUint16(1, true)
    expect(await kelvins()).toBe(308)
    for (let i = 0; i < 4; i++) await move(host, 0x02, 2048)
    expect(await kelvins()).toBe(326)
    for (let i = 0; i < 4; i++) await move(host, 0x02, 2048)
    expect(await kelvins()).toBe(343)
    expect((await smart(host)).getUint8(0)).toBe(0b10)
    await host.pass(60e9)
    expect(await kelvins()).toBe(308)
    expect((await smart(host)).getUint8(0)).toBe(0)
  })

  it.each([
    ['at the over temperature threshold', 308, 0b10],
    ['below it', 309, 0],
    ['at the under temperature threshold', 0x0010_0000 | 308, 0b10],
    ['above it', 0x0010_0000 | 307, 0],
  ])('%s determines Critical Warning bit 1 (Base 2.3 §5.2.26.1.3)', async (_, cdw11, warning) => {
    const host = await ready()
    await host.admin({ opcode: 0x09, cdw: { 10: 0x04, 11: cdw11 } })
    expect((await smart(host)).getUint8(0)).toBe(warning)
  })
})

describe('setHealth()', () => {
  it('changes SMART data, raises an enabled event, and can restore the temperature', async () => {
    const host = await ready()
    await host.admin({ opcode: 0x09, cdw: { 10: 0x0b, 11: 0x1f } })
    host.submit(0, { opcode: 0x0c })
    await host.pass(1e6)
    expect(host.poll(0)).toEqual([])
    host.simulation.setHealth({ temperatureKelvins: 360 })
    await host.pass(1e6)
    expect(host.poll(0)).toMatchObject([{ dw0: 0x0002_0101 }])
    const hot = await smart(host)
    expect([hot.getUint8(0), hot.getUint16(1, true)]).toEqual([0b10, 360])
    host.simulation.setHealth({ temperatureKelvins: null, availableSparePercent: 9 })
    const worn = await smart(host)
    expect([worn.getUint8(0), worn.getUint16(1, true), worn.getUint8(3)]).toEqual([0b01, 308, 9])
  })

  it.each([
    ['below WCTEMP', 342, [0, 0]],
    ['at WCTEMP', 343, [2, 0]],
    ['below CCTEMP', 352, [2, 0]],
    ['at CCTEMP', 353, [0, 2]],
  ])(
    '%s: minutes count as warm from WCTEMP to below CCTEMP, and as critical from there on',
    async (_, kelvins, minutes) => {
      const host = await ready()
      host.simulation.setHealth({ temperatureKelvins: kelvins })
      await host.pass(2 * MINUTE_NS)
      const page = await smart(host)
      // WCTT at byte 192, CCTT at byte 196.
      expect([page.getUint32(192, true), page.getUint32(196, true)]).toEqual(minutes)
    },
  )

  it.each([
    [{ temperatureKelvins: -1 }, 'temperatureKelvins from 0 to 65535, got -1'],
    [{ availableSparePercent: 101 }, 'availableSparePercent from 0 to 100, got 101'],
    [{ availableSparePercent: Number.NaN }, 'availableSparePercent from 0 to 100, got NaN'],
  ])('rejects %j', async (changes, message) => {
    const { simulation } = await ready()
    expect(() => simulation.setHealth(changes)).toThrow(`setHealth: expected ${message}`)
  })
})
