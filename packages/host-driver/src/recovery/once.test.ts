import { deriveProfile, simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { FaultRule } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller } from '../controller.js'
import type { ControllerOptions } from '../open-options.js'

// Each of these was found by the campaign in ../../dst.

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

test('a controller is declared lost once, where a flush that had the only queue to itself is the first to see it', async () => {
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

test('a flush that has to have the only queue to itself waits for the recovery of what got no answer there', async () => {
  const lost = { match: { register: 'SQyTDBL', qid: 1, nth: 1 }, action: { kind: 'lose-write' } } as const
  const simulation = simulated([lost], {}, 1)
  const ctrl = await open(simulation, { queueDepth: 1 })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  const read = ns.execute(ns.planReads([{ slba: 0, blocks: 8, offsetBytes: 0 }]), memory, { timeoutNs: 50 * MS })
  await Promise.all([read, ns.flush()])
  // The ring has two entries: with the read still in it, the flush's would have been one too many.
  expect(simulation.diagnostics).toEqual([])
  expect((await read).failures).toEqual([])
  expect(simulation.clock.now()).toBeLessThan(100 * MS)
  await ctrl.close()
})

test('an open that fails leaves nobody behind who goes on with the controller', async () => {
  const simulation = simulated([
    // An event that comes while the controller is opened, and after it no answers any more.
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

test('that a namespace was detached is known after the first plan that fails for it', async () => {
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

// ACQ is at a multiple of 4 GiB here: losing its lower half loses nothing.
test.each([
  ['AQA', 1],
  ['ASQ', 1],
  ['ACQ', 2],
])('a controller that did not take %s is not enabled', async (register, nth) => {
  const simulation = simulated([{ match: { register, nth, access: 'write' }, action: { kind: 'lose-write' } }])
  await expect(open(simulation)).rejects.toMatchObject({ code: 'ERR_GPUNVME_ADMIN_QUEUE_REGISTERS' })
  expect(simulation.statistics.adminCommands).toEqual({})
  expect(simulation.diagnostics).toEqual([])
  await (await open(simulation)).close()
})

test('a controller that somebody else has reset is known at the first look at CSTS, and gets nothing more to do', async () => {
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

test('the reads of the write guard have the time limit of single commands', async () => {
  const simulation = simulated([{ match: { qid: 1, opcode: 2, nth: 1 }, action: { kind: 'hang' } }])
  const ctrl = await open(simulation)
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  await ns.write(0, 8, memory)
  // The hanging read's limit, and the Abort that ends it; without it the driver's 10 s.
  expect(simulation.clock.now()).toBe(50 * MS)
  await ctrl.close()
})

test('a write that was answered with an error, and is not sent again since its plan is aborted, ends with that error', async () => {
  const status = { kind: 'status', sct: 0, sc: 0x82 } as const // Namespace Not Ready: later
  const simulation = simulated([{ match: { qid: 1, opcode: 1, nth: 1 }, action: status }])
  const ctrl = await open(simulation)
  const ns = ctrl.namespace(1)
  const signal = {
    get aborted() {
      return simulation.faults.struck[0]! > 0
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
