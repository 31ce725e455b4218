import { simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import { Copy, GetFeatures, Read, TemperatureThreshold } from '@gpunvme/nvme-spec'
import type { FaultRule } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller } from '../../src/controller.js'

/** Bring-up sends three Identify commands; the next two follow the command that changes the namespace. */
const IDENTIFY_HANGS: FaultRule = {
  match: { qid: 0, opcode: 0x06, nth: 4, every: 1, times: 2 },
  action: { kind: 'hang' },
}

async function opened(rules: readonly FaultRule[]) {
  const simulation = simulate({ namespaces: [{ capacityBytes: 1024 * 1024, blockBytes: 4096 }], faults: { rules } })
  const options = { write: { serial: simulation.serial }, manage: true, commandTimeoutNs: 1e8 } as const
  return { simulation, ctrl: await Controller.open(simulation.transport, options) }
}

test('a namespace that could not be identified after its format is not read with its old block size', async () => {
  const { simulation, ctrl } = await opened([IDENTIFY_HANGS])
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(8192)
  await expect(ctrl.management.format(1, { lbaFormat: 0 })).rejects.toMatchObject({
    code: 'ERR_GPUNVME_COMMAND_TIMEOUT',
  })
  expect(ns.identity.outdated).toBe(true)
  await expect(ns.read(0, 2, memory)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NAMESPACE_CHANGED' })
  // The refused call has started another attempt to identify it.
  while (ns.identity.outdated === true) await new Promise(setImmediate)
  expect(ns.blockBytes).toBe(512)
  await ns.read(0, 16, memory)
  await ctrl.close()
  expect(simulation.diagnostics).toEqual([])
})

/** Changes the size of a namespace whose capacity is 2048 blocks. */
const resizeAt = (match: FaultRule['match'], blocks: number): FaultRule => ({
  match: { ...match, nth: 1 },
  action: { kind: 'resize-namespace', nsid: 1, blocks },
})

/** Opens a namespace of 1024 blocks, which grows at the first command that matches. The second one takes 1 s. */
async function shrunk(grows?: FaultRule['match'], trace?: SimulationOptions['trace']) {
  const rules = [resizeAt({ opcode: GetFeatures.opcode, qid: 0 }, 1024)]
  if (grows !== undefined) {
    rules.push(resizeAt(grows, 2048), {
      match: { ...grows, nth: 2 },
      action: { kind: 'delay-completion', delayNs: 1e9 },
    })
  }
  const simulation = simulate({
    namespaces: [{ capacityBytes: 1024 * 1024 }],
    faults: { rules },
    trace: trace ?? (() => undefined),
  })
  const { transport } = simulation
  const { clock } = transport
  // Otherwise, virtual time would pass before the driver handles an event.
  const idle = async (untilNs: number) => {
    for (let turn = 0; turn < 50; turn++) await new Promise(setImmediate)
    return clock.idle(untilNs)
  }
  const slow = {
    now: () => clock.now(),
    idle,
    get nextNs() {
      return clock.nextNs
    },
  }
  const ctrl = await Controller.open({ ...transport, clock: slow }, { write: { serial: simulation.serial } })
  const ns = ctrl.namespace(1)
  // The driver handles events only while they are iterated over.
  const events = (async () => {
    for await (const event of ctrl.events()) expect(event.kind).toBe('namespaces-changed')
  })()
  await ctrl.getFeature(TemperatureThreshold)
  while (ns.blocks !== 1024) await new Promise(setImmediate)
  return { ctrl, ns, events }
}

/** Number of reads by which the guard searches a namespace before `writeZeroes`. */
async function guardReads(grows?: FaultRule['match']): Promise<number> {
  let reads = 0
  const { ctrl, ns, events } = await shrunk(grows, ({ track, name }) => {
    if (track === 'sq 1' && name === 'fetch') reads++
  })
  await ns.writeZeroes(0, 8)
  await ctrl.close()
  await events
  return reads
}

test('a namespace that was resized while the guard read it is searched again', async () => {
  const once = await guardReads()
  const twice = await guardReads({ opcode: Read.opcode, qid: 1 })
  expect(twice).toBeGreaterThan(once)
})

test('sends no further part of a change after the namespace was resized', async () => {
  const { ctrl, ns, events } = await shrunk({ opcode: Copy.opcode })
  const sources = Array.from({ length: 512 }, (_, slba) => ({ slba, blocks: 1 }))
  await expect(ns.copy(sources, 512)).rejects.toMatchObject({ code: 'ERR_GPUNVME_NAMESPACE_CHANGED' })
  await ctrl.close()
  await events
})
