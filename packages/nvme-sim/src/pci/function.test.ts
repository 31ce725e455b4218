import { describe, expect, it } from 'vitest'
import { AQA, CC, CSTS, RDY } from '../../conformance/raw-host/registers.js'
import { textsOf } from '../../test/diagnostics.js'
import { enabled, ready, TestHost } from '../../test/host.js'
import { deriveProfile } from '../index.js'

const ALL_ONES = 0xffff_ffff
const COMMAND = 0x04
const BAR0 = 0x10
const FLUSH = { opcode: 0x00, nsid: 1 }

const configOf = ({ simulation }: TestHost) => simulation.transport.config!

/** Returns the offset of the capability with an ID. */
function capability(host: TestHost, id: number): number {
  const config = configOf(host)
  let at = config.read(0x34, 1)
  for (let i = 0; i < 48 && config.read(at, 1) !== id; i++) at = config.read(at + 1, 1)
  expect(config.read(at, 1)).toBe(id)
  return at
}

const setPowerState = (host: TestHost, state: number) => configOf(host).write(capability(host, 0x01) + 4, 2, state)

describe('configuration space (PCIe 1.2 §3.8)', () => {
  it('has class 01h, 08h, 02h (NVMe I/O controller), the vendor IDs of Identify, and a 64-bit BAR0', () => {
    const config = configOf(
      new TestHost({ profile: deriveProfile('ideal', { identify: { VID: 0x15b7, SSVID: 0x15b8 } }) }),
    )
    expect([config.read(0x00, 2), config.read(0x2c, 2)]).toEqual([0x15b7, 0x15b8])
    expect([0x0b, 0x0a, 0x09].map((offset) => config.read(offset, 1))).toEqual([0x01, 0x08, 0x02])
    expect(config.read(0x0e, 1)).toBe(0)
    expect(config.read(0x06, 2) & 0x10).toBe(0x10)
    expect(config.read(BAR0, 4) & 0xf).toBe(0b0100)
    expect(config.read(0x3d, 1)).toBe(1)
  })

  it('starts as firmware leaves it: memory space and bus mastering enabled, MSI-X disabled', () => {
    const host = new TestHost()
    expect(configOf(host).read(COMMAND, 2)).toBe(0x0006)
    expect(configOf(host).read(capability(host, 0x11) + 2, 2) & 0xc000).toBe(0)
    expect(configOf(host).read(BAR0, 4) & 0xffff_fff0).not.toBe(0)
  })

  it('BAR0 returns its size after all ones are written', () => {
    const host = new TestHost()
    const config = configOf(host)
    const address = config.read(BAR0, 4)
    config.write(COMMAND, 2, 0)
    config.write(BAR0, 4, ALL_ONES)
    config.write(BAR0 + 4, 4, ALL_ONES)
    const mask = (BigInt(config.read(BAR0 + 4, 4)) << 32n) | BigInt(config.read(BAR0, 4) & 0xffff_fff0)
    expect(2n ** 64n - BigInt.asUintN(64, mask)).toBe(BigInt(host.bar.lengthBytes))
    config.write(BAR0, 4, address)
    config.write(BAR0 + 4, 4, 0)
    config.write(COMMAND, 2, 6)
    expect(host.bar.read32(0x08)).toBe(0x0002_0100)
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('shows the link of the profile: Gen3 x4, MPS 256 and MRRS 512 (Figures 50 to 55)', () => {
    const host = new TestHost({ profile: 'sn740' })
    const config = configOf(host)
    const at = capability(host, 0x10)
    expect(config.read(at + 0x04, 4) & 0x1000_0007).toBe(0x1000_0001)
    expect([(config.read(at + 0x08, 2) >>> 5) & 7, (config.read(at + 0x08, 2) >>> 12) & 7]).toEqual([1, 2])
    expect(config.read(at + 0x0c, 4) & 0x3ff).toBe(0x043)
    expect(config.read(at + 0x12, 2) & 0x3ff).toBe(0x043)
  })

  it('accepts accesses of 1, 2 and 4 bytes, and ignores writes to read-only fields', () => {
    const config = configOf(new TestHost())
    config.write(0x00, 4, 0x5678_9abc)
    config.write(0x3c, 1, 0xab)
    expect([config.read(0x00, 4), config.read(0x3c, 2), config.read(0x3c, 1)]).toEqual([0x0108_1234, 0x01ab, 0xab])
    expect(() => config.read(0x1002, 2)).toThrow(RangeError)
    expect(() => config.read(0x01, 2)).toThrow(RangeError)
  })

  it('has Advanced Error Reporting at 100h; writing ones clears its status (Figure 60)', () => {
    const host = new TestHost()
    const config = configOf(host)
    expect(config.read(0x100, 4) & 0xf_ffff).toBe(0x2_0001)
    config.write(COMMAND, 2, 0x0004)
    host.bar.read32(CSTS)
    // Unsupported Request: bit 20 here, bit 3 of Device Status.
    const deviceStatus = capability(host, 0x10) + 0x0a
    expect([config.read(0x104, 4), config.read(deviceStatus, 2) & 8]).toEqual([1 << 20, 8])
    config.write(0x104, 4, 1 << 20)
    config.write(deviceStatus, 2, 8)
    expect([config.read(0x104, 4), config.read(deviceStatus, 2) & 8]).toEqual([0, 0])
  })
})

describe('Memory Space Enable', () => {
  it('= 0: reads return all ones, writes are dropped, and one diagnostic reports it', async () => {
    const host = await ready()
    configOf(host).write(COMMAND, 2, 0x0004)
    expect([host.bar.read32(CSTS), host.bar.read32(CC)]).toEqual([ALL_ONES, ALL_ONES])
    host.bar.write32(CC, 0)
    configOf(host).write(COMMAND, 2, 0x0006)
    expect(host.bar.read32(CSTS)).toBe(RDY)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host read offset 0x1c, but Memory Space Enable is 0: reads return all ones until CMD.MSE is 1',
    ])
  })
})

describe('Bus Master Enable', () => {
  it('= 0: nothing is fetched, and a doorbell write is reported; fetching resumes with 1', async () => {
    const host = await ready()
    configOf(host).write(COMMAND, 2, 0x0002)
    const cid = host.submit(1, FLUSH)
    expect(await host.until(() => host.poll(1).length > 0, 1e9)).toBe(false)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host rang SQ 1 tail 1, but Bus Master Enable is 0: nothing is fetched until CMD.BME is 1',
    ])
    configOf(host).write(COMMAND, 2, 0x0006)
    expect((await host.collect(1, 1)).map((completed) => completed.cid)).toEqual([cid])
  })

  it('= 0 during commands: neither data nor completions arrive until it is 1', async () => {
    const host = await ready({ profile: 'sn740' })
    const data = host.alloc(4096)
    new Uint8Array(data.view.buffer).fill(0xa5)
    host.submit(1, { opcode: 0x02, nsid: 1, prp1: data.iovaAt(0), cdw: { 12: 7 } })
    await host.pass(10_000)
    configOf(host).write(COMMAND, 2, 0x0002)
    await host.pass(1e9)
    expect([host.poll(1).length, data.view.getUint8(0)]).toEqual([0, 0xa5])
    configOf(host).write(COMMAND, 2, 0x0006)
    expect((await host.collect(1, 1)).map(({ status }) => status)).toEqual(['0/00'])
    expect(data.view.getUint8(0)).toBe(0)
  })

  it('= 0 while completions wait for a free slot: slots released meanwhile are filled once it is 1', async () => {
    const host = await ready()
    await host.createCq(2, 2)
    await host.createSq(2, 8, 2)
    const cids = [1, 2, 3].map(() => host.stage(2, FLUSH))
    host.ringTail(2)
    await host.pass(1000)
    configOf(host).write(COMMAND, 2, 0x0002)
    const found = host.poll(2)
    await host.pass(1000)
    expect([...found, ...host.poll(2)]).toHaveLength(1)
    configOf(host).write(COMMAND, 2, 0x0006)
    found.push(...(await host.collect(2, 2)))
    expect(found.map(({ cid }) => cid)).toEqual(cids)
  })

  it('= 0: an asynchronous event is reported once it is 1', async () => {
    const host = await ready()
    const cid = host.submit(0, { opcode: 0x0c })
    await host.pass(1000)
    configOf(host).write(COMMAND, 2, 0x0002)
    // There is no submission queue 9.
    host.bar.write32(0x1000 + 8 * 9, 1)
    await host.pass(1000)
    expect(host.poll(0)).toEqual([])
    configOf(host).write(COMMAND, 2, 0x0006)
    expect(await host.collect(0, 1)).toMatchObject([{ cid, dw0: 0x0001_0000 }])
  })
})

describe('D3hot (PCIe 1.2 Figure 33)', () => {
  it('registers read all ones and drop writes, configuration space works, and D0 restores the controller', async () => {
    const host = await ready()
    setPowerState(host, 3)
    expect(host.bar.read32(CSTS)).toBe(ALL_ONES)
    host.ringTail(1, 1)
    expect(configOf(host).read(capability(host, 0x01) + 4, 2)).toBe(0x000b)
    setPowerState(host, 0)
    // No Soft Reset is 1: the queues still exist.
    expect(host.bar.read32(CSTS)).toBe(RDY)
    expect((await host.command(1, FLUSH)).status).toBe('0/00')
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host put the function into D3hot before CSTS.SHST was 10b: shut the controller down first',
      expect.stringContaining('the function is in D3hot'),
    ])
  })

  it('during commands: neither data nor completions arrive until D0', async () => {
    const host = await ready({ profile: 'sn740' })
    const data = host.alloc(4096)
    new Uint8Array(data.view.buffer).fill(0xa5)
    host.submit(1, { opcode: 0x02, nsid: 1, prp1: data.iovaAt(0), cdw: { 12: 7 } })
    await host.pass(10_000)
    setPowerState(host, 3)
    await host.pass(1e9)
    expect([host.poll(1, { ring: false }).length, data.view.getUint8(0)]).toEqual([0, 0xa5])
    setPowerState(host, 0)
    expect((await host.collect(1, 1)).map(({ status }) => status)).toEqual(['0/00'])
    expect(data.view.getUint8(0)).toBe(0)
  })

  it.each(['function', 'bus'] as const)(
    'ends with a %s reset, although the transport restores the configuration',
    async (kind) => {
      const host = await ready()
      setPowerState(host, 3)
      await host.simulation.transport.reset!(kind)
      expect(configOf(host).read(capability(host, 0x01) + 4, 2) & 3).toBe(0)
      expect([host.bar.read32(CSTS), host.bar.read32(CC)]).toEqual([0, 0])
    },
  )

  it('after a shutdown is not reported; D1 and D2 are not supported', async () => {
    const host = await ready()
    host.bar.write32(CC, host.bar.read32(CC) | 0x4000)
    await host.until(() => (host.bar.read32(CSTS) & 0xc) === 8)
    for (const state of [1, 2]) {
      setPowerState(host, state)
      expect(configOf(host).read(capability(host, 0x01) + 4, 2) & 3).toBe(0)
    }
    setPowerState(host, 3)
    setPowerState(host, 0)
    expect(host.simulation.diagnostics).toEqual([])
  })
})

describe('function resets (PCIe 1.2 §3.3.1)', () => {
  it('Function Level Reset by Device Control disables memory space and bus mastering, and clears BAR0', async () => {
    const host = await ready()
    const config = configOf(host)
    const address = config.read(BAR0, 4)
    const control = capability(host, 0x10) + 0x08
    config.write(control, 2, config.read(control, 2) | 0x8000)
    expect([config.read(COMMAND, 2), config.read(BAR0, 4), config.read(control, 2) & 0x8000]).toEqual([0, 4, 0])
    expect(host.bar.read32(CSTS)).toBe(ALL_ONES)
    config.write(COMMAND, 2, 0x0006)
    expect(host.bar.read32(CSTS)).toBe(ALL_ONES)
    config.write(BAR0, 4, address)
    expect([host.bar.read32(CSTS), host.bar.read32(CC), host.bar.read32(AQA)]).toEqual([0, 0, 0])
  })

  it.each(['function', 'bus'] as const)(
    'a %s reset by the transport restores the configuration of the host',
    async (kind) => {
      const host = await ready()
      const config = configOf(host)
      config.write(0x3c, 1, 0x55)
      config.write(capability(host, 0x11) + 2, 2, 0x8000)
      const startNs = host.clock.now()
      await host.simulation.transport.reset!(kind)
      expect(host.clock.now() - startNs).toBe(100e6)
      expect([config.read(COMMAND, 2), config.read(0x3c, 1)]).toEqual([6, 0x55])
      expect(config.read(capability(host, 0x11) + 2, 2)).toBe(0x8040)
      expect([host.bar.read32(CSTS), host.bar.read32(AQA)]).toEqual([0, 0])
      host.cqs.clear()
      host.sqs.clear()
      expect(await host.enable()).toBe(RDY)
    },
  )

  it('CSTS.NSSRO survives other resets until the host clears it (Base 2.1 §3.1.4.6)', async () => {
    const host = await ready()
    host.bar.write32(0x20, 0x4e56_4d65)
    await host.simulation.transport.reset!('function')
    expect(host.bar.read32(CSTS)).toBe(0x10)
    host.bar.write32(CSTS, 0x10)
    await host.simulation.transport.reset!('function')
    expect(host.bar.read32(CSTS)).toBe(0)
  })
})

describe('accesses of invalid width (PCIe 1.2 §3.1.2)', () => {
  it('reports and ignores a 64-bit write to a doorbell or to two 32-bit registers', async () => {
    const host = await ready()
    host.bar.write64(0x1008, 1n)
    host.bar.write64(0x20, 0x000f_000f_0000_0000n)
    expect(host.bar.read32(AQA)).toBe(0x001f_001f)
    expect(await host.until(() => host.poll(1).length > 0, 1e9)).toBe(false)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host wrote 64 bits at offset 0x1008, but a doorbell is 32 bits wide',
      'host wrote 64 bits at offset 0x20, but no 64-bit register is there',
    ])
  })
})

describe('powerCycle()', () => {
  /** Get Log Page, SMART / Health Information: Power Cycles at byte 112, Unexpected Power Losses at byte 144. */
  async function counts(host: TestHost): Promise<number[]> {
    const page = host.alloc(4096)
    const cdw = { 10: 0x02 | (127 << 16) }
    expect((await host.admin({ opcode: 0x02, nsid: 0xffff_ffff, prp1: page.iovaAt(0), cdw })).status).toBe('0/00')
    return [112, 144].map((at) => Number(page.view.getBigUint64(at, true)))
  }

  it('counts as an unexpected power loss unless CSTS.SHST is 10b', async () => {
    const host = await enabled()
    const [cycles, losses] = await counts(host)
    host.bar.write32(CC, host.bar.read32(CC) | 0x4000)
    await host.until(() => (host.bar.read32(CSTS) & 0xc) === 8)
    host.simulation.powerCycle()
    expect(host.bar.read32(CSTS)).toBe(0)
    await host.enable()
    expect(await counts(host)).toEqual([cycles! + 1, losses])
    host.simulation.powerCycle()
    await host.enable()
    expect(await counts(host)).toEqual([cycles! + 2, losses! + 1])
  })

  it('clears CSTS.NSSRO', () => {
    const host = new TestHost()
    host.bar.write32(0x20, 0x4e56_4d65)
    expect(host.bar.read32(CSTS)).toBe(0x10)
    host.simulation.powerCycle()
    expect(host.bar.read32(CSTS)).toBe(0)
  })

  it('allows doorbell writes without a diagnostic until the host reads CSTS', async () => {
    const host = await enabled()
    host.simulation.powerCycle()
    host.submit(0, { opcode: 0x06 })
    expect(host.simulation.diagnostics).toEqual([])
    expect(host.bar.read32(CSTS)).toBe(0)
    host.submit(0, { opcode: 0x06 })
    expect(host.simulation.diagnostics).toMatchObject([{ code: 'doorbell-state' }])
  })
})
