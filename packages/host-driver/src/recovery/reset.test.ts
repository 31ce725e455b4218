import { simulate, type FaultPlan } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { collect } from '../../conformance/cases/support.js'
import { Controller } from '../controller.js'

const MS = 1_000_000
const CC = 0x14

/** Opens a controller, and records the values written to CC.EN afterwards. */
async function opened(rules: FaultPlan['rules'] = [], change: { readonly reset?: undefined } = {}) {
  const simulation = simulate({
    profile: 'sn740',
    faults: { rules },
    namespaces: [{ capacityBytes: 16 * 1024 * 1024 }],
  })
  const { transport } = simulation
  const enabled: number[] = []
  const bar = Object.assign(Object.create(transport.bar) as typeof transport.bar, {
    write32(offset: number, value: number) {
      if (offset === CC) enabled.push(value & 1)
      transport.bar.write32(offset, value)
    },
  })
  const ctrl = await Controller.open({ ...transport, bar, ...change } as typeof transport, {
    commandTimeoutNs: 100 * MS,
  })
  enabled.length = 0
  return { simulation, ctrl, ns: ctrl.namespace(1), enabled }
}

test('reset disables and enables the controller; handle and namespaces stay usable', async () => {
  const { ctrl, ns, enabled, simulation } = await opened()
  const events = collect(ctrl.events())
  await ctrl.reset()
  expect(enabled.join('')).toMatch(/^0+1$/)
  expect(ctrl.statistics.recoveries).toMatchObject({ abort: 0, 'controller-reset': 1, 'function-reset': 0, lost: 0 })
  expect(ctrl.namespace(1)).toBe(ns)
  expect(await ns.readBytes(0, 4096)).toHaveLength(4096)
  // Asynchronous events are requested again.
  simulation.setHealth({ availableSparePercent: 9 })
  await ctrl.smartLog()
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  await ctrl.close()
  expect(await events).toMatchObject([
    { kind: 'recovery', step: 'controller-reset', result: 'begun' },
    { kind: 'recovery', step: 'controller-reset', result: 'succeeded' },
    { kind: 'health', criticalWarning: 1 },
  ])
  expect(simulation.diagnostics).toEqual([])
})

test('reset waits for commands in flight, and later commands wait for the reset', async () => {
  const { ctrl, ns, simulation } = await opened()
  const order: string[] = []
  const note = (name: string, work: Promise<unknown>) => work.then(() => order.push(name))
  const plan = ns.planReads([{ slba: 0, blocks: 16_384, offsetBytes: 0 }])
  const memory = ns.dma.alloc(16_384 * ns.blockBytes)
  await Promise.all([
    note('plan', ns.execute(plan, memory)),
    note('log', ctrl.smartLog()),
    note('reset', ctrl.reset()),
    note('read', ns.readBytes(0, 512)),
    note('verify', ns.verify(0, 8)),
  ])
  expect(order.slice(0, 3).toSorted()).toEqual(['log', 'plan', 'reset'])
  expect(order[2]).toBe('reset')
  expect(ctrl.statistics).toMatchObject({ timeouts: 0, replays: 0, retries: 0 })
  memory.free()
  await ctrl.close()
  expect(simulation.diagnostics).toEqual([])
})

test('sends a hanging read again after the reset, which waits for its deadline', async () => {
  const { ctrl, ns } = await opened([{ match: { qid: 1, opcode: 2, nth: 1 }, action: { kind: 'hang' } }])
  const [bytes] = await Promise.all([ns.readBytes(0, 512, { timeoutNs: 50 * MS }), ctrl.reset()])
  expect(bytes).toHaveLength(512)
  expect(ctrl.statistics).toMatchObject({ timeouts: 1, replays: 1, recoveries: { abort: 0, 'controller-reset': 1 } })
  await ctrl.close()
})

test('two concurrent resets are one reset, two consecutive ones are two', async () => {
  const { ctrl } = await opened()
  await Promise.all([ctrl.reset(), ctrl.reset()])
  await ctrl.reset()
  expect(ctrl.statistics.recoveries['controller-reset']).toBe(2)
  await ctrl.close()
})

/** Strikes the second time that CC.EN is set; `open` sets it first. */
const neverReady = { match: { nth: 2 }, action: { kind: 'ready-never-rises' } } as const

test('resets the function if the controller does not become ready after a reset', async () => {
  const { ctrl, ns } = await opened([neverReady])
  await ctrl.reset()
  expect(ctrl.statistics.recoveries).toMatchObject({ 'controller-reset': 1, 'function-reset': 1, lost: 0 })
  expect(await ns.readBytes(0, 512)).toHaveLength(512)
  await ctrl.close()
})

test('declares the controller lost if the function cannot be reset either, and rejects reset and all later calls', async () => {
  const { ctrl, ns } = await opened([neverReady], { reset: undefined })
  await expect(ctrl.reset()).rejects.toMatchObject({ code: 'ERR_GPUNVME_DEVICE_LOST' })
  expect(ctrl.statistics.recoveries.lost).toBe(1)
  await expect(ns.readBytes(0, 512)).rejects.toMatchObject({ code: 'ERR_GPUNVME_DEVICE_LOST' })
  await expect(ctrl.reset()).rejects.toMatchObject({ code: 'ERR_GPUNVME_DEVICE_LOST' })
  await ctrl.close()
  await expect(ctrl.reset()).rejects.toMatchObject({ code: 'ERR_GPUNVME_CONTROLLER_CLOSED' })
})

test('reset of a closed controller is rejected, and close waits for a reset in progress', async () => {
  const { ctrl } = await opened()
  const reset = ctrl.reset()
  const closed = ctrl.close()
  await reset
  await closed
  expect(ctrl.statistics.recoveries['controller-reset']).toBe(1)
  await expect(ctrl.reset()).rejects.toMatchObject({ code: 'ERR_GPUNVME_CONTROLLER_CLOSED' })
})
