import { deriveProfile, simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { FaultRule, Transport } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller } from '../controller.js'
import { HostEngine } from '../engine/host-engine.js'
import type { ControllerOptions } from '../running/open-options.js'

// Regressions that the campaign in ../../dst found.

const MS = 1_000_000
const SERIAL = 'SIM00001'

function simulated(rules: readonly FaultRule[], options: SimulationOptions = {}, ioQueuePairs = 4) {
  const profile = deriveProfile('ideal', { identify: { SN: SERIAL }, ioQueuePairs })
  return simulate({ profile, namespaces: [{ capacityBytes: 65536 }], faults: { rules }, ...options })
}

function open(simulation: ReturnType<typeof simulate>, options: ControllerOptions = {}) {
  return Controller.open(simulation.transport, {
    commandTimeoutNs: 50 * MS,
    readyTimeoutNs: 100 * MS,
    recovery: { abortNs: 10 * MS, queuesNs: 20 * MS, restartNs: 100 * MS },
    write: { serial: SERIAL },
    ...options,
  })
}

test('declares a controller lost once if a flush on the only I/O queue detects it first', async () => {
  const simulation = simulated(
    [
      { match: { qid: 1, opcode: 2, nth: 1 }, action: { kind: 'hang' } },
      { match: { qid: 1, opcode: 0 }, action: { kind: 'remove-device' } },
    ],
    {},
    1,
  )
  const ctrl = await open(simulation)
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  const read = ns.execute(ns.planReads([{ slba: 0, blocks: 8, offsetBytes: 0 }]), memory, { timeoutNs: 50 * MS })
  const flushed = ns.flush()
  await expect(flushed).rejects.toMatchObject({ code: 'ERR_GPUNVME_DEVICE_LOST' })
  expect((await read).failures).toMatchObject([{ outcome: { kind: 'device-lost' } }])
  expect(ctrl.statistics.recoveries.lost).toBe(1)
})

test('a flush on the only I/O queue waits for the recovery of overdue commands there', async () => {
  const lost = { match: { register: 'SQyTDBL', qid: 1, nth: 1 }, action: { kind: 'lose-write' } } as const
  const simulation = simulated([lost], {}, 1)
  const ctrl = await open(simulation, { queueDepth: 1 })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  const read = ns.execute(ns.planReads([{ slba: 0, blocks: 8, offsetBytes: 0 }]), memory, { timeoutNs: 50 * MS })
  await Promise.all([read, ns.flush()])
  // The ring has two entries: with the read still in it, the flush would not fit.
  expect(simulation.diagnostics).toEqual([])
  expect((await read).failures).toEqual([])
  expect(simulation.clock.now()).toBeLessThan(100 * MS)
  await ctrl.close()
})

test('a failed open leaves nothing running that accesses the controller', async () => {
  const simulation = simulated([
    // An event during open, after which three commands get no completion.
    { match: { qid: 0, nth: 4 }, action: { kind: 'resize-namespace', nsid: 1, blocks: 64 } },
    { match: { qid: 0, nth: 11, every: 1, times: 3 }, action: { kind: 'drop-completion' } },
  ])
  let accesses = 0
  const counted = <R>(access: () => R) => {
    accesses++
    return access()
  }
  const { bar } = simulation.transport
  const transport = {
    ...simulation.transport,
    bar: {
      lengthBytes: bar.lengthBytes,
      read32: (offset: number) => counted(() => bar.read32(offset)),
      write32: (offset: number, value: number) => counted(() => bar.write32(offset, value)),
      read64: (offset: number) => counted(() => bar.read64(offset)),
      write64: (offset: number, value: bigint) => counted(() => bar.write64(offset, value)),
    },
  }
  await expect(open({ ...simulation, transport })).rejects.toMatchObject({ code: 'ERR_GPUNVME_COMMAND_TIMEOUT' })
  const before = accesses
  for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate)
  expect(accesses).toBe(before)
  expect(simulation.diagnostics).toEqual([])
})

test('identifies a detached namespace after the first plan that fails for it', async () => {
  const simulation = simulated([{ match: { qid: 1, nth: 1 }, action: { kind: 'detach-namespace', nsid: 1 } }])
  const ctrl = await open(simulation)
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  await expect(ns.read(0, 8, memory)).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
  for (let turn = 0; turn < 20 && ns.identity.attached; turn++) await new Promise(setImmediate)
  expect(ctrl.namespaces).toEqual([])
  await ctrl.close()
  expect(simulation.diagnostics).toEqual([])
})

const FAILS = { kind: 'status', sct: 0, sc: 0x04, dnr: true } as const
const RESIZE = { kind: 'resize-namespace', nsid: 1, blocks: 64 } as const
const DETACH = { kind: 'detach-namespace', nsid: 1 } as const

/** Waits for background work of the driver. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
}

test('refuses a changed namespace until it is identified, once more after each refused call', async () => {
  // Bring-up sends three Identify commands.
  const match = { qid: 0, opcode: 0x06, nth: 4, every: 1, times: 3 }
  let commands = 0
  const simulation = simulated(
    [
      { match: { qid: 1, nth: 1 }, action: RESIZE },
      { match, action: FAILS },
    ],
    {
      trace: ({ track, name }) => {
        if (track === 'sq 0' && name === 'fetch') commands++
      },
    },
  )
  const ctrl = await open(simulation)
  const changed: unknown[] = []
  const watching = (async () => {
    for await (const event of ctrl.events()) if (event.kind === 'namespaces-changed') changed.push(event.nsids)
  })()
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  await expect(ns.read(100, 8, memory)).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
  await settle()
  const afterNotice = commands
  await settle()
  expect([commands, ns.blocks, ns.identity.outdated]).toEqual([afterNotice, 128, true])
  for (let attempt = 0; attempt < 3; attempt++) {
    expect(changed).toEqual([])
    await expect(ns.read(0, 8, memory)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NAMESPACE_CHANGED' })
    await settle()
  }
  expect([changed, ns.blocks, ns.identity.outdated]).toEqual([[[1]], 64, undefined])
  await ns.read(0, 8, memory)
  await expect(ns.read(100, 8, memory)).rejects.toMatchObject({ code: 'ERR_GPUNVME_LBA_RANGE' })
  await ctrl.close()
  await watching
  expect(simulation.diagnostics).toEqual([])
})

test('identifies a changed namespace although Get Log Page fails, and reports that', async () => {
  const simulation = simulated([
    { match: { qid: 1, nth: 1 }, action: RESIZE },
    { match: { qid: 0, opcode: 0x02, nth: 1, every: 1, times: 100 }, action: FAILS },
  ])
  const ctrl = await open(simulation)
  const texts: string[] = []
  const watching = (async () => {
    for await (const event of ctrl.events()) if (event.kind === 'error') texts.push(event.text)
  })()
  const ns = ctrl.namespace(1)
  await expect(ns.read(100, 8, ns.dma.alloc(4096))).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
  await settle()
  expect([ns.blocks, ns.identity.outdated]).toEqual([64, undefined])
  await ns.read(0, 8, ns.dma.alloc(4096))
  await ctrl.close()
  await watching
  expect(texts[0]).toContain('The log of changed namespaces could not be read: Get Log Page failed')
})

test('identifies a detached namespace after a refused call if Identify failed', async () => {
  const simulation = simulated([
    { match: { qid: 1, nth: 1 }, action: DETACH },
    { match: { qid: 0, opcode: 0x06, nth: 4 }, action: FAILS },
  ])
  const ctrl = await open(simulation)
  const ns = ctrl.namespace(1)
  await expect(ns.read(0, 8, ns.dma.alloc(4096))).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
  await settle()
  expect(ns.identity).toMatchObject({ attached: true, outdated: true })
  await expect(ns.read(0, 8, ns.dma.alloc(4096))).rejects.toMatchObject({ code: 'ERR_GPUNVME_NAMESPACE_CHANGED' })
  await settle()
  expect(ctrl.namespaces).toEqual([])
  await ctrl.close()
})

test('identifies a resized namespace after LBA Out of Range if the controller rejected the configuration of events', async () => {
  const simulation = simulated([
    { match: { qid: 1, nth: 1 }, action: RESIZE },
    { match: { qid: 1, nth: 3 }, action: { ...RESIZE, blocks: 32 } },
    { match: { qid: 0, opcode: 0x09, nth: 1 }, action: FAILS },
  ])
  const ctrl = await open(simulation)
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  for (const [slba, blocks] of [
    [100, 64],
    [50, 32],
  ] as const) {
    await expect(ns.read(slba, 8, memory)).rejects.toMatchObject({ code: 'ERR_GPUNVME_TRANSFER' })
    await settle()
    expect(ns.blocks).toBe(blocks)
    await ns.read(0, 8, memory)
  }
  await ctrl.close()
  expect(simulation.diagnostics).toEqual([])
})

// ACQ is a multiple of 4 GiB here, so the loss of its lower half would have no effect.
test.each([
  ['AQA', 1],
  ['ASQ', 1],
  ['ACQ', 2],
])('does not enable a controller that did not store %s', async (register, nth) => {
  const simulation = simulated([{ match: { register, nth, access: 'write' }, action: { kind: 'lose-write' } }])
  await expect(open(simulation)).rejects.toMatchObject({ code: 'ERR_GPUNVME_ADMIN_QUEUE_REGISTERS' })
  expect(simulation.statistics.adminCommands).toEqual({})
  expect(simulation.diagnostics).toEqual([])
  await (await open(simulation)).close()
})

test('detects an external reset at the first read of CSTS, and sends no further command', async () => {
  const simulation = simulated([{ match: { qid: 1, opcode: 2, nth: 1 }, action: { kind: 'surprise-reset' } }])
  const ctrl = await open(simulation)
  const ns = ctrl.namespace(1)
  const startNs = simulation.clock.now()
  await ns.read(0, 8, ns.dma.alloc(4096), { timeoutNs: 5_000 * MS })
  expect(simulation.clock.now() - startNs).toBeLessThanOrEqual(20 * MS)
  expect(ctrl.statistics.recoveries).toMatchObject({ abort: 0, 'controller-reset': 1, lost: 0 })
  await ctrl.close()
  expect(simulation.diagnostics).toEqual([])
})

test('reads of the write guard have the time limit of single commands', async () => {
  const simulation = simulated([{ match: { qid: 1, opcode: 2, nth: 1 }, action: { kind: 'hang' } }])
  const ctrl = await open(simulation)
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  await ns.write(0, 8, memory)
  // The time limit of the hanging read, which Abort then ends; the default limit would be 10 s.
  expect(simulation.clock.now()).toBe(50 * MS)
  await ctrl.close()
})

test('a failed write that is not retried because its plan was aborted ends with its status', async () => {
  const status = { kind: 'status', sct: 0, sc: 0x82 } as const // Namespace Not Ready: later
  const simulation = simulated([{ match: { qid: 1, opcode: 1, nth: 1 }, action: status }])
  const ctrl = await open(simulation)
  const ns = ctrl.namespace(1)
  const signal = {
    get aborted() {
      return simulation.faults.hits[0]! > 0
    },
    reason: undefined,
    addEventListener: () => undefined,
    removeEventListener: () => undefined,
  }
  const plan = ns.planWrites([{ slba: 0, blocks: 8, offsetBytes: 0 }])
  const { failures } = await ns.execute(plan, ns.dma.alloc(4096), { signal })
  expect(failures).toMatchObject([{ command: 0, outcome: { kind: 'status', sct: 0, sc: 0x82 } }])
  await ctrl.close()
})

/** Returns the transport with reads of CSTS changed by `change`. */
function withStatus(transport: Transport, change: (csts: number) => number): Transport {
  const { bar } = transport
  return {
    ...transport,
    bar: {
      lengthBytes: bar.lengthBytes,
      read32: (offset) => (offset === 0x1c ? change(bar.read32(offset)) : bar.read32(offset)),
      read64: (offset) => bar.read64(offset),
      write32: (offset, value) => bar.write32(offset, value),
      write64: (offset, value) => bar.write64(offset, value),
    },
  }
}

test('aborts a command in flight before it settles the command if CSTS reads all ones once', async () => {
  const simulation = simulated([{ match: { qid: 2, opcode: 5, nth: 2 }, action: { kind: 'hang' } }])
  let blink = false
  const transport = withStatus(simulation.transport, (csts) => {
    if (!blink) return csts
    blink = false
    return 0xffff_ffff
  })
  const ctrl = await Controller.open(transport, { commandTimeoutNs: 50 * MS, write: { serial: SERIAL } })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  await ns.compare(0, 8, memory)
  blink = true
  expect(await ns.compare(0, 8, memory)).toBe(true)
  expect(ctrl.statistics).toMatchObject({ recoveries: { abort: 1, lost: 0 } })
  await ctrl.close()
  expect(simulation.diagnostics).toEqual([])
})

test('close detects a removed drive at once, and writes no register', async () => {
  const simulation = simulated([])
  let gone = false
  const transport = withStatus(simulation.transport, (csts) => (gone ? 0xffff_ffff : csts))
  const ctrl = await Controller.open(transport)
  gone = true
  const startNs = simulation.clock.now()
  let writes = 0
  const write32 = transport.bar.write32.bind(transport.bar)
  transport.bar.write32 = (offset, value) => {
    writes++
    write32(offset, value)
  }
  await expect(ctrl.close()).rejects.toMatchObject({ code: 'ERR_GPUNVME_DEVICE_LOST' })
  expect(simulation.clock.now() - startNs).toBeLessThan(100 * MS)
  expect(writes).toBe(0)
})

test('plans continue after a flush on the only I/O queue could not allocate memory', async () => {
  const simulation = simulated([], {}, 1)
  let short = false
  const { dma } = simulation.transport
  const transport: Transport = {
    ...simulation.transport,
    dma: {
      alloc: (lengthBytes, request) => {
        if (short) throw new RangeError('no memory left')
        return dma.alloc(lengthBytes, request)
      },
    },
  }
  const ctrl = await Controller.open(transport, { write: { serial: SERIAL } })
  const ns = ctrl.namespace(1)
  short = true
  await expect(ns.flush()).rejects.toThrow('no memory left')
  short = false
  await ns.readBytes(0, 512)
  await ns.flush()
  await ctrl.close()
})

test('shuts the controller down although the engine does not detach from its queues', async () => {
  const simulation = simulated([])
  const engine = new HostEngine(simulation.transport)
  const detach = engine.detach.bind(engine)
  engine.detach = () => {
    detach()
    throw new Error('not now')
  }
  const ctrl = await Controller.open(simulation.transport, { engine })
  await expect(ctrl.close()).rejects.toThrow('not now')
  expect(simulation.transport.bar.read32(0x14) & 1).toBe(0)
})

test('keeps memory from the moment that the transport fails, while commands are still awaited', async () => {
  const simulation = simulated([])
  let freed = 0
  let broken = false
  const { dma, bar } = simulation.transport
  const transport: Transport = {
    ...withStatus(simulation.transport, (csts) => csts),
    dma: {
      alloc: (lengthBytes, request) => {
        const memory = dma.alloc(lengthBytes, request)
        const free = memory.free.bind(memory)
        memory.free = () => {
          freed++
          free()
        }
        return memory
      },
    },
  }
  const doorbell = transport.bar.write32.bind(transport.bar)
  transport.bar.write32 = (offset, value) => {
    if (broken && offset >= 0x1000) throw new Error('the bus is gone')
    doorbell(offset, value)
  }
  const ctrl = await Controller.open(transport)
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  broken = true
  await expect(ns.read(0, 8, memory)).rejects.toMatchObject({ code: 'ERR_GPUNVME_ENGINE_FAILED' })
  memory.free()
  expect(freed).toBe(0)
  expect(bar.read32(0x14) & 1).toBe(1)
})

test('sends no further command of a plan after a reset that replaced its namespace', async () => {
  const simulation = simulated([
    { match: { qid: 1, opcode: 2, nth: 2 }, action: { kind: 'fatal-status' } },
    // Done by another host while the controller is reset.
    { match: { qid: 0, opcode: 6, nth: 5 }, action: { kind: 'detach-namespace', nsid: 1 } },
  ])
  const ctrl = await open(simulation, { queueDepth: 1, maxTransferBytes: 4096 })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(65536)
  const plan = ns.planReads([{ slba: 0, blocks: 128, offsetBytes: 0 }])
  const { succeeded, failures } = await ns.execute(plan, memory)
  expect(succeeded + failures.length).toBe(16)
  expect(failures.filter(({ outcome }) => outcome.kind === 'not-submitted').length).toBeGreaterThan(10)
  await ctrl.close()
})
