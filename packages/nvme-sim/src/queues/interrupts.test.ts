import { describe, expect, it } from 'vitest'
import { enabled, TestHost } from '../../test/host.js'
import { textsOf } from '../../test/diagnostics.js'
import { deriveProfile, type SimulationOptions } from '../index.js'

const INTMS = 0x0c
const INTMC = 0x10
const COMMAND = 0x04
const STATUS = 0x06
const FLUSH = { opcode: 0x00, nsid: 1 }
const FAILS = { opcode: 0x00, nsid: 9 }

/** Returns the offset of MSI-X Message Control (capability ID 11h), and the location of the table and the PBA. */
function msix({ simulation }: TestHost) {
  const config = simulation.transport.config!
  let at = config.read(0x34, 1)
  for (let i = 0; i < 48 && config.read(at, 1) !== 0x11; i++) at = config.read(at + 1, 1)
  const [table, pending] = [config.read(at + 4, 4), config.read(at + 8, 4)]
  return { control: at + 2, table: table & ~7, pending: pending & ~7, bars: [table & 7, pending & 7] }
}

/** Enables MSI-X with unmasked vectors whose message address is `address`. */
function enableMsix(host: TestHost, vectors: readonly number[], address = 0xfee0_0000): void {
  const { control, table } = msix(host)
  for (const vector of vectors) {
    host.bar.write32(table + 16 * vector, address % 2 ** 32)
    host.bar.write32(table + 16 * vector + 4, Math.floor(address / 2 ** 32))
    host.bar.write32(table + 16 * vector + 8, 0x4000 + vector)
    host.bar.write32(table + 16 * vector + 12, 0)
  }
  host.simulation.transport.config!.write(control, 2, 0x8000)
}

/** Returns a host with a queue pair for each vector; undefined for IEN = 0. */
async function withVectors(
  vectors: readonly (number | undefined)[],
  options?: SimulationOptions,
  prepare = enableMsix,
) {
  const host = await enabled(options)
  prepare(host, [0, ...vectors.filter((vector) => vector !== undefined)])
  for (const [index, vector] of vectors.entries()) {
    const qid = index + 1
    const { memory } = host.addCqRing(qid, 64)
    const cdw = { 10: qid | (63 << 16), 11: vector === undefined ? 1 : 3 | (vector << 16) }
    expect((await host.admin({ opcode: 0x05, prp1: memory.iovaAt(0), cdw })).status).toBe('0/00')
    await host.createSq(qid, 64, qid)
  }
  return host
}

const fired = (host: TestHost, vector: number) => host.simulation.statistics.interrupts.fired[vector]
const masked = (host: TestHost, vector: number) => host.simulation.statistics.interrupts.masked[vector]
const noMsix = () => undefined

/** Submits `count` commands and lets them complete, without consuming completion queue entries. */
async function run(host: TestHost, qid: number, count: number, entry = FLUSH): Promise<void> {
  for (let i = 0; i < count; i++) host.stage(qid, entry)
  host.ringTail(qid)
  await host.pass(1000)
}

describe('MSI-X (PCIe 1.2 §3.5.2)', () => {
  it('sends one message of the queue’s vector for each entry, and none for a queue with IEN = 0', async () => {
    const host = await withVectors([3, undefined, 3, 5])
    for (const [qid, count] of [
      [1, 2],
      [2, 4],
      [3, 1],
      [4, 6],
    ] as const) {
      await run(host, qid, count)
    }
    expect([1, 2, 3, 4, 5].map((vector) => fired(host, vector))).toEqual([0, 0, 3, 0, 6])
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('a message writes the data of the table entry to its address', async () => {
    const host = await withVectors([2])
    const memory = host.alloc(4096)
    enableMsix(host, [2], memory.iovaAt(64))
    await run(host, 1, 1)
    expect(memory.view.getUint32(64, true)).toBe(0x4002)
  })

  it('a masked vector sets its pending bit, and fires once when it is unmasked', async () => {
    const host = await withVectors([1])
    const { table, pending } = msix(host)
    host.bar.write32(table + 16 + 12, 1)
    await run(host, 1, 3)
    expect([fired(host, 1), masked(host, 1), host.bar.read32(pending)]).toEqual([0, 3, 0b10])
    host.bar.write32(table + 16 + 12, 0)
    expect([fired(host, 1), host.bar.read32(pending)]).toEqual([1, 0])
    host.bar.write32(table + 16 + 12, 1)
    host.bar.write32(table + 16 + 12, 0)
    expect(fired(host, 1)).toBe(1)
  })

  it('Function Mask masks every vector, whatever its own mask (PCIe 1.2 Figure 44)', async () => {
    const host = await withVectors([1, 40])
    const { control, pending, table } = msix(host)
    const { config } = host.simulation.transport
    config!.write(control, 2, 0xc000)
    await run(host, 1, 1)
    await run(host, 2, 1)
    expect([fired(host, 1), fired(host, 40)]).toEqual([0, 0])
    expect([host.bar.read32(pending), host.bar.read32(pending + 4)]).toEqual([0b10, 1 << 8])
    // A table write while Function Mask is 1 releases no vector.
    host.bar.write32(table + 16 * 40 + 12, 1)
    expect(fired(host, 1)).toBe(0)
    config!.write(control, 2, 0x8000)
    expect([fired(host, 1), fired(host, 40)]).toEqual([1, 0])
    expect(host.bar.read32(table + 16 * 40 + 12)).toBe(1)
  })

  it('the table is in BAR0 after the doorbells, on separate pages, and all vectors start masked', () => {
    const host = new TestHost()
    const { control, table, pending, bars } = msix(host)
    const { config } = host.simulation.transport
    // 65 vectors: 64 I/O queue pairs and the Admin queue.
    expect(config!.read(control, 2)).toBe(64)
    expect(bars).toEqual([0, 0])
    expect([table % 4096, pending % 4096]).toEqual([0, 0])
    expect(table).toBeGreaterThanOrEqual(0x1000 + 65 * 2 * 4)
    for (let vector = 0; vector < 65; vector++) expect(host.bar.read32(table + 16 * vector + 12)).toBe(1)
    host.bar.write64(table, 0x0000_0001_fee0_0003n)
    expect(host.bar.read64(table)).toBe(0x0000_0001_fee0_0000n)
    host.bar.write32(pending, 0xff)
    expect(host.bar.read32(pending)).toBe(0)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      expect.stringContaining('the MSI-X Pending Bit Array is read-only'),
    ])
  })

  it('a write to INTMS is reported and masks nothing (Base 2.1 §3.1.4.3)', async () => {
    const host = await withVectors([1])
    host.bar.write32(INTMS, 0xffff_ffff)
    await run(host, 1, 1)
    expect(fired(host, 1)).toBe(1)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'host wrote INTMS while MSI-X is enabled: use the masks in the MSI-X table',
    ])
  })

  it('a vector that fires with message address 0 is reported', async () => {
    const host = await withVectors([1])
    host.bar.write32(msix(host).table + 16, 0)
    await run(host, 1, 1)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      expect.stringContaining('vector 1 fired with message address 0'),
    ])
  })

  it('the interrupt arrives after the completion queue entry', async () => {
    const host = await withVectors([1], { profile: 'sn740' })
    const memory = host.alloc(4096)
    enableMsix(host, [1], memory.iovaAt(0))
    host.submit(1, FLUSH)
    await host.until(() => host.poll(1, { ring: false }).length > 0)
    expect(memory.view.getUint32(0, true)).toBe(0)
    await host.pass(1000)
    expect(memory.view.getUint32(0, true)).toBe(0x4001)
  })

  it('a Controller Reset keeps the table and Message Control (Base 2.1 §3.1.4.5)', async () => {
    const host = await withVectors([1])
    const { control, table } = msix(host)
    await host.disable()
    expect(host.simulation.transport.config!.read(control, 2)).toBe(0x8040)
    expect(host.bar.read32(table + 16 + 8)).toBe(0x4001)
  })

  it('a Controller Reset clears pending bits: unmasking fires nothing (Base 2.3 §3.7.2)', async () => {
    const host = await withVectors([1])
    const { table, pending } = msix(host)
    host.bar.write32(table + 16 + 12, 1)
    await run(host, 1, 1)
    expect(host.bar.read32(pending)).toBe(0b10)
    await host.disable()
    expect(host.bar.read32(pending)).toBe(0)
    host.bar.write32(table + 16 + 12, 0)
    expect(fired(host, 1)).toBe(0)
  })
})

describe('INTx (PCIe 1.2 §3.5.1)', () => {
  it('is active while an entry of vector 0 is unacknowledged, and fires once', async () => {
    const host = await withVectors([0], {}, noMsix)
    const { config } = host.simulation.transport
    const before = fired(host, 0)!
    await run(host, 1, 3)
    expect([fired(host, 0)! - before, config!.read(STATUS, 2) & 8]).toEqual([1, 8])
    host.poll(1)
    expect(config!.read(STATUS, 2) & 8).toBe(0)
    await run(host, 1, 1)
    expect(fired(host, 0)! - before).toBe(2)
  })

  it('INTMS bit 0 masks it; clearing the mask makes it active again (Figure 9)', async () => {
    const host = await withVectors([0], {}, noMsix)
    const before = fired(host, 0)!
    host.bar.write32(INTMS, 1)
    await run(host, 1, 1)
    expect([fired(host, 0)! - before, masked(host, 0)]).toEqual([0, 1])
    host.bar.write32(INTMC, 1)
    expect(fired(host, 0)! - before).toBe(1)
  })

  it('Interrupt Disable of the Command register prevents the interrupt, but not the bit in Status', async () => {
    const host = await withVectors([0], {}, noMsix)
    const { config } = host.simulation.transport
    const before = fired(host, 0)!
    config!.write(COMMAND, 2, 0x0406)
    await run(host, 1, 1)
    expect([fired(host, 0)! - before, config!.read(STATUS, 2) & 8]).toEqual([0, 8])
    config!.write(COMMAND, 2, 0x0006)
    expect(fired(host, 0)! - before).toBe(1)
  })

  it('signals vector 0 only: a queue with another vector is reported once if the host disables MSI-X', async () => {
    const host = await withVectors([2], {}, (host) => {
      host.simulation.transport.config!.write(msix(host).control, 2, 0)
    })
    await run(host, 1, 2)
    expect(textsOf(host.simulation.diagnostics)).toEqual([
      'CQ 1 interrupts on vector 2, but MSI-X is disabled and the pin signals only vector 0: no interrupt arrives',
    ])
  })
})

describe('a host that does not enable MSI-X before its first wait', () => {
  it('may poll before it waits: no interrupt is missed, and no diagnostic is reported', async () => {
    const host = await withVectors([1], {}, noMsix)
    await run(host, 1, 2)
    expect(host.poll(1)).toHaveLength(2)
    await run(host, 1, 1)
    const { interrupts } = host.simulation.transport
    expect(await interrupts!.wait(1, host.clock.now() + 1e9)).toBe('fired')
    expect(host.simulation.diagnostics).toEqual([])
  })
})

describe('Interrupt Coalescing (Base 2.1 §5.1.25.2.2)', () => {
  /** Aggregation Threshold, 0's based, and Aggregation Time in 100 microseconds. */
  const set = (thr: number, time: number) => ({ opcode: 0x09, cdw: { 10: 0x08, 11: thr | (time << 8) } })

  it('fires after THR + 1 entries, or after TIME', async () => {
    const host = await withVectors([1])
    expect((await host.admin(set(3, 5))).status).toBe('0/00')
    await run(host, 1, 3)
    expect(fired(host, 1)).toBe(0)
    await run(host, 1, 1)
    expect(fired(host, 1)).toBe(1)
    host.submit(1, FLUSH)
    await host.pass(499_000)
    expect(fired(host, 1)).toBe(1)
    await host.pass(2000)
    expect(fired(host, 1)).toBe(2)
  })

  it.each([
    ['THR', 0, 5],
    ['TIME', 3, 0],
  ])('%s = 0 disables it', async (_, thr, time) => {
    const host = await withVectors([1])
    await host.admin(set(thr, time))
    await run(host, 1, 3)
    expect(fired(host, 1)).toBe(3)
  })

  it('delays neither Admin completions nor errors', async () => {
    const host = await withVectors([1])
    await host.admin(set(10, 100))
    const before = fired(host, 0)!
    await host.admin({ opcode: 0x0a, cdw: { 10: 0x07 } })
    expect(fired(host, 0)).toBe(before + 1)
    await run(host, 1, 1, FAILS)
    expect(fired(host, 1)).toBe(1)
  })

  it('drops its count when MSI-X is disabled: no message is sent then or after MSI-X is enabled again', async () => {
    const host = await withVectors([1])
    const { control, pending } = msix(host)
    await host.admin(set(10, 1))
    await run(host, 1, 2)
    host.simulation.transport.config!.write(control, 2, 0)
    await host.pass(200_000)
    expect([fired(host, 1), host.bar.read32(pending)]).toEqual([0, 0])
    host.simulation.transport.config!.write(control, 2, 0x8000)
    await host.pass(200_000)
    expect(fired(host, 1)).toBe(0)
  })

  it('does not apply to a vector with Coalescing Disable, or after a reset', async () => {
    const host = await withVectors([1, 2])
    await host.admin(set(10, 100))
    const disable = { opcode: 0x09, cdw: { 10: 0x09, 11: 2 | (1 << 16) } }
    expect((await host.admin(disable)).status).toBe('0/00')
    await run(host, 1, 2)
    await run(host, 2, 2)
    expect([fired(host, 1), fired(host, 2)]).toEqual([0, 2])
    await host.disable()
    await host.enable()
    const { memory } = host.addCqRing(1, 8)
    await host.admin({ opcode: 0x05, prp1: memory.iovaAt(0), cdw: { 10: 1 | (7 << 16), 11: 3 | (1 << 16) } })
    await host.createSq(1, 8, 1)
    await run(host, 1, 2)
    expect(fired(host, 1)).toBe(2)
  })
})

describe('interrupts of the transport', () => {
  it('the first wait enables MSI-X; a wait ends when its vector fires, or at its deadline', async () => {
    const host = await withVectors([1, 2], {}, noMsix)
    const { interrupts } = host.simulation.transport
    expect(interrupts!.vectors).toBe(65)
    const startNs = host.clock.now()
    expect(await interrupts!.wait(1, startNs + 1000)).toBe('deadline')
    expect(host.clock.now()).toBe(startNs + 1000)
    host.submit(2, FLUSH)
    expect(await interrupts!.wait(2, startNs + 1e9)).toBe('fired')
    expect(await interrupts!.wait(2, host.clock.now())).toBe('deadline')
    expect(host.simulation.diagnostics).toEqual([])
  })

  it('a wait does not miss an interrupt that fired before it', async () => {
    const host = await withVectors([1], {}, noMsix)
    const { interrupts } = host.simulation.transport
    await interrupts!.wait(1, host.clock.now())
    await run(host, 1, 1)
    expect(await interrupts!.wait(1, host.clock.now())).toBe('fired')
  })

  it('the first wait does not miss entries posted before it', async () => {
    const host = await withVectors([1], { profile: deriveProfile('ideal', {}) }, noMsix)
    await run(host, 1, 1)
    expect(await host.simulation.transport.interrupts!.wait(1, host.clock.now())).toBe('fired')
  })

  it('a Controller Reset clears interrupts that fired before it (Base 2.3 §3.7.2)', async () => {
    const host = await withVectors([1], {}, noMsix)
    const { interrupts } = host.simulation.transport
    await interrupts!.wait(1, host.clock.now())
    await run(host, 1, 1)
    await host.disable()
    await host.enable()
    expect(await interrupts!.wait(1, host.clock.now() + 1000)).toBe('deadline')
    expect(await interrupts!.wait(0, host.clock.now() + 1000)).toBe('deadline')
  })

  it('vector 0 is INTx while the host itself has disabled MSI-X', async () => {
    const host = await withVectors([0], {}, noMsix)
    const { config, interrupts } = host.simulation.transport
    config!.write(msix(host).control, 2, 0)
    // Consumes the interrupt of the earlier Admin commands.
    await interrupts!.wait(0, host.clock.now())
    expect(await interrupts!.wait(0, host.clock.now() + 1000)).toBe('deadline')
    host.submit(1, FLUSH)
    expect(await interrupts!.wait(0, host.clock.now() + 1000)).toBe('fired')
    expect(config!.read(msix(host).control, 2)).toBe(0x0040)
  })

  it('rejects a vector that does not exist', async () => {
    const { transport, clock } = new TestHost().simulation
    await expect(transport.interrupts!.wait(65, clock.now())).rejects.toThrow(/0 to 64, got 65/)
  })
})
