import { setEnvironmentData } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import {
  RealTimeSimulatorError,
  startRealTimeSimulator,
  type RealTimeOptions,
  type RealTimeSimulator,
} from '@gpunvme/nvme-sim/realtime'
import { CaseHost } from '../../conformance/index.js'
import { textsOf } from '../../test/diagnostics.js'

const MIB = 1024 * 1024
const CAP = 0x00
const CC = 0x14
const CSTS = 0x1c

const running: RealTimeSimulator[] = []
afterEach(() => Promise.all(running.splice(0).map((each) => each.close())))

async function start(options: Partial<RealTimeOptions> = {}): Promise<RealTimeSimulator> {
  const memory = new SharedArrayBuffer(4 * MIB)
  const simulator = await startRealTimeSimulator({ memory, ...options })
  running.push(simulator)
  return simulator
}

/** Starts a simulator on a replacement of a native module, whose `yield` a test controls by `order`. */
async function startOnModule(responseLimitMs: number) {
  const memory = new SharedArrayBuffer(4 * MIB)
  const orders = new Int32Array(new SharedArrayBuffer(12))
  setEnvironmentData('gpunvme shared memory', { memory, orders })
  // Modules are cached by URL: each test loads its own instance.
  const module = new URL(`../../test/realtime/shared-host.mjs?${running.length}${performance.now()}`, import.meta.url)
  const simulator = await startRealTimeSimulator({
    ...{ module, address: 0x7f00_0000_0000n, lengthBytes: 4 * MIB, responseLimitMs },
    // Calls yield() after every poll.
    idle: { pollsPerYield: 1 },
  })
  running.push(simulator)
  return { simulator, orders, order: (what: 0 | 1 | 2) => (Atomics.store(orders, 0, what), Atomics.notify(orders, 0)) }
}

const untilHung = (orders: Int32Array) => untilAtLeastOne(orders, 2)

async function untilAtLeastOne(words: Int32Array, index: number): Promise<void> {
  while (Atomics.load(words, index) === 0) await new Promise((resolve) => setTimeout(resolve, 1))
}

describe('a real-time simulator', () => {
  it('executes Write and Read for a host in the thread that started it, and counts them', async () => {
    const { transport, statistics, diagnostics } = await start({
      namespaces: [{ blockBytes: 4096, capacityBytes: MIB }],
    })
    const host = new CaseHost(transport)
    await host.startWithPair()
    const written = host.alloc(8192)
    written.fillPattern()
    const read = host.alloc(8192)
    const cdw = { 10: 7, 12: 1 }
    const prps = (memory: typeof read) => ({ prp1: memory.iova(), prp2: memory.iova(4096) })
    expect((await host.command(1, { opcode: 0x01, nsid: 1, ...prps(written), cdw })).status).toBe('0/00')
    expect((await host.command(1, { opcode: 0x02, nsid: 1, ...prps(read), cdw })).status).toBe('0/00')
    expect(read.read()).toEqual(written.read())
    host.checkMemory()
    expect((await statistics()).ioCommands).toEqual({ 1: 1, 2: 1 })
    expect(await diagnostics()).toEqual([])
  })

  it('takes at least the time of its profile', async () => {
    const { transport } = await start({ profile: 'sn740' })
    const host = new CaseHost(transport)
    const startNs = transport.clock.now()
    await host.start()
    // enableNs of the preset: 20 ms.
    expect(transport.clock.now() - startNs).toBeGreaterThanOrEqual(20e6)
  })

  it('applies its fault plan', async () => {
    const status = { kind: 'status', sct: 2, sc: 0x81, dnr: true } as const
    const { transport } = await start({ faults: { rules: [{ match: { qid: 1, opcode: 2 }, action: status }] } })
    const host = new CaseHost(transport)
    await host.startWithPair()
    const memory = host.alloc(512)
    const completed = await host.command(1, { opcode: 0x02, nsid: 1, prp1: memory.iova(), cdw: { 12: 0 } })
    expect(completed).toMatchObject({ status: '2/81', dnr: true })
  })

  it('supports concurrent waits with different deadlines, and an event ends all of them', async () => {
    const { transport } = await start()
    const { clock } = transport
    const nowNs = clock.now()
    // Long enough for the waits to leave the event loop free.
    await Promise.all([15e6, 25e6, 20e6].map((ns) => clock.idle(nowNs + ns)))
    expect(clock.now()).toBeGreaterThanOrEqual(nowNs + 25e6)
    const waiting = Promise.all([clock.idle(Infinity), clock.idle(Infinity), clock.idle(Infinity)])
    await new Promise((resolve) => setTimeout(resolve, 20))
    await new CaseHost(transport).start()
    await waiting
  })

  it('reports host errors, such as a doorbell write for a queue that does not exist', async () => {
    const { transport, diagnostics } = await start()
    const host = new CaseHost(transport)
    await host.start()
    transport.bar.write32(0x1000 + 8 * 3, 5)
    // On a busy machine, its thread may answer before it polls the doorbell.
    await expect
      .poll(async () => textsOf(await diagnostics()), { timeout: 30_000 })
      .toEqual([expect.stringMatching(/^host rang SQ 3 tail 5, but the queue does not exist/)])
  })

  it.each<[string, number, (bar: Int32Array, write32: (offset: number, value: number) => void) => void]>([
    ['a transport write for a queue', 1, (_, write32) => write32(0x1004, 31)],
    ['a transport write for a missing queue', 0, (_, write32) => write32(0x1008, 1)],
    ['a store for a queue', 1, (bar) => Atomics.store(bar, 0x1004 / 4, 31)],
    ['a store for a missing queue', 0, (bar) => Atomics.store(bar, 0x1008 / 4, 1)],
  ])('wakes its host for the event that an invalid doorbell value raises: by %s', async (_, event, ring) => {
    const memory = new SharedArrayBuffer(4 * MIB)
    const { transport, layout } = await start({ memory })
    const host = new CaseHost(transport, undefined, { commandLimitNs: 3e9 })
    await host.start()
    const cid = host.submit(0, { opcode: 0x0c })
    await host.settle()
    ring(new Int32Array(memory, layout.barOffsetBytes, layout.barBytes / 4), (offset, value) => {
      transport.bar.write32(offset, value)
    })
    // Fails if the host finds the event only by its last poll at the deadline.
    expect(await host.collect(0, 1)).toMatchObject([{ cid, dw0: 0x0001_0000 | (event << 8) }])
  })

  it('ends a command on freed memory with Data Transfer Error', async () => {
    const { transport, diagnostics } = await start()
    const host = new CaseHost(transport)
    await host.startWithPair()
    const memory = transport.dma.alloc(4096)
    const prp1 = memory.iovaAt(0)
    memory.free()
    const completed = await host.command(1, { opcode: 0x02, nsid: 1, prp1, cdw: { 12: 7 } })
    expect(completed.status).toBe('0/04')
    expect(textsOf(await diagnostics())).toEqual([
      expect.stringMatching(/ Read: PRP1 .*: no memory there, it was freed$/),
    ])
  })

  it('has its power-on state after a reset of its transport', async () => {
    const { transport } = await start()
    const host = new CaseHost(transport)
    await host.start()
    await transport.reset!('function')
    expect(transport.bar.read32(CC)).toBe(0)
    expect(transport.bar.read32(CSTS)).toBe(0)
    host.forgetRings()
    await host.start()
  })

  it('reads all ones after a fault has removed it, but still answers requests', async () => {
    const { transport, statistics } = await start({
      faults: { rules: [{ match: { qid: 1 }, action: { kind: 'remove-device' } }] },
    })
    const host = new CaseHost(transport)
    await host.startWithPair()
    host.submit(1, { opcode: 0x00, nsid: 1 })
    expect(await host.until(() => transport.bar.read32(CSTS) === 0xffff_ffff)).toBe(true)
    expect(transport.bar.read64(CAP)).toBe(0xffff_ffff_ffff_ffffn)
    expect((await statistics()).ioCommands).toEqual({})
  })

  it('can be closed repeatedly, then reads all ones and rejects requests', async () => {
    const { transport, statistics, closed, close } = await start()
    await Promise.all([close(), close()])
    await close()
    await closed
    expect(transport.bar.read32(CSTS)).toBe(0xffff_ffff)
    transport.bar.write32(CC, 1)
    await expect(statistics()).rejects.toMatchObject({ code: 'ERR_GPUNVME_SIMULATOR_ENDED', reason: 'closed' })
  })

  it('rejects invalid options with the error of the thread', async () => {
    await expect(start({ memory: new SharedArrayBuffer(8192) })).rejects.toThrow(/DMA needs a page/)
    await expect(start({ baseIova: 100 })).rejects.toThrow(RangeError)
    await expect(start({ namespaces: [{ capacityBytes: 100 }] })).rejects.toThrow(RangeError)
    await expect(start({ namespaces: [{ file: { path: '/nowhere/at/all' } }] })).rejects.toThrow(/ENOENT/)
    await expect(start({ namespaces: [{}, {}] })).rejects.toThrow(
      'NSID 1 is used twice; give each namespace its own nsid',
    )
    const module = new URL('data:text/javascript,export const view = 1')
    await expect(startRealTimeSimulator({ module, address: 4096n, lengthBytes: MIB })).rejects.toThrow(TypeError)
  })
})

describe('a real-time simulator on memory of a native module', () => {
  it('executes commands', async () => {
    const { simulator, orders } = await startOnModule(10_000)
    // The address of the memory is also its device address.
    expect(simulator.layout.baseIova).toBe(0x7f00_0000_0000)
    const host = new CaseHost(simulator.transport)
    await host.startWithPair()
    expect((await host.command(1, { opcode: 0x00, nsid: 1 })).status).toBe('0/00')
    // yield() was called.
    await untilAtLeastOne(orders, 1)
  })

  it('rejects pending requests with the error as cause after a crash; registers read all ones', async () => {
    const { simulator, orders, order } = await startOnModule(60_000)
    order(2)
    await untilHung(orders)
    const pending = simulator.statistics()
    order(1)
    await expect(pending).rejects.toMatchObject({
      reason: 'crashed',
      cause: { message: 'the native module has failed' },
    })
    await expect(simulator.closed).rejects.toThrow(RealTimeSimulatorError)
    expect(simulator.transport.bar.read32(CSTS)).toBe(0xffff_ffff)
    await simulator.close()
  })

  it('is given up if it hangs and does not answer a request in time', async () => {
    const { simulator, orders, order } = await startOnModule(100)
    order(2)
    await untilHung(orders)
    await expect(simulator.diagnostics()).rejects.toMatchObject({ reason: 'hung' })
    await expect(simulator.closed).rejects.toMatchObject({ reason: 'hung' })
  })

  it('is given up if it hangs and a register read waits for an earlier write', async () => {
    const { simulator, orders, order } = await startOnModule(100)
    const { bar } = simulator.transport
    order(2)
    await untilHung(orders)
    bar.write32(CC, 0x0046_0000)
    expect(bar.read32(CC)).toBe(0xffff_ffff)
    await expect(simulator.closed).rejects.toMatchObject({ reason: 'hung' })
  })

  it('can be closed while it hangs', async () => {
    const { simulator, orders, order } = await startOnModule(60_000)
    order(2)
    await untilHung(orders)
    await simulator.close()
    expect(simulator.transport.bar.read32(CSTS)).toBe(0xffff_ffff)
  })
})
