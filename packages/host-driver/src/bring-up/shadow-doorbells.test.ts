import { deriveProfile, simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { FaultAction, FaultMatch, TraceEvent } from '@gpunvme/nvme-spec/transport'
import { afterEach, expect, test } from 'vitest'
import { watchEvents } from '../../test/watch-events.js'
import { patternMedia, wrongBytes } from '../../test/pattern.js'
import { Controller } from '../controller.js'
import type { ControllerOptions } from '../running/open-options.js'
import { traced } from '../wrap/traced.js'

const MIB = 1024 * 1024
const READ = 0x02
const SECOND_NS = 1_000_000_000

let simulation: ReturnType<typeof simulate>
let rings: string[]

const rule = (action: FaultAction, match: FaultMatch) => ({ match, action })

/** Opens a controller, and records writes to doorbell registers. */
async function openWith(options: ControllerOptions = {}, simulated: SimulationOptions = {}) {
  simulation = simulate({ profile: 'sn740', namespaces: [{ media: patternMedia(64 * MIB) }], ...simulated })
  rings = []
  const sink = ({ track, name }: TraceEvent) => {
    if (name.startsWith('ring ')) rings.push(`${track} ${name}`)
  }
  const ctrl = await Controller.open(traced(simulation.transport, sink), {
    shadowDoorbells: true,
    queueDepth: 8,
    maxTransferBytes: 65536,
    ...options,
  })
  const ns = ctrl.namespace(1)
  return { ctrl, ns, memory: ns.dma.alloc(MIB) }
}

const wholeMib = [{ slba: 0, blocks: 2048, offsetBytes: 0 }]

afterEach(() => {
  expect(simulation.diagnostics).toEqual([])
})

test('commands use host memory, and doorbells are written if the controller requests it', async () => {
  const { ctrl, ns, memory } = await openWith({ queueEntries: 9 })
  const before = rings.length
  const transfers = Array.from({ length: 400 }, (_, index) => ({ slba: index * 4, blocks: 4, offsetBytes: 0 }))
  const { failures } = await ns.execute(ns.planReads([...transfers, ...wholeMib]), memory)
  expect(failures).toEqual([])
  expect(wrongBytes(memory, 0)).toBe(0)
  // 416 completions. The controller requests a head doorbell write only when its completion queue of 9 entries is full.
  expect(rings.slice(before).filter((name) => name === 'cq 1 ring head').length).toBeLessThan(104)
  await ctrl.close()
})

test('the Admin queue uses its registers', async () => {
  const { ctrl, ns } = await openWith()
  await ns.readBytes(0, 512)
  const before = rings.length
  await ctrl.close()
  // Two submission and two completion queues are deleted: four commands, one at a time.
  expect(rings.slice(before).filter((name) => name === 'sq 0 ring tail')).toHaveLength(4)
})

test.each([
  ['queues that were created again', { kind: 'drop-completion' }, { 'recreate-queues': 1, 'controller-reset': 0 }],
  ['a reset of the controller', { kind: 'fatal-status' }, { 'recreate-queues': 0, 'controller-reset': 1 }],
] as const)('they go on after %s', async (_, action, recoveries) => {
  const faults = { rules: [rule(action, { qid: 1, opcode: READ, nth: 5 })] }
  const { ctrl, ns, memory } = await openWith({ queues: 2 }, { faults })
  const plan = ns.planReads(wholeMib)
  for (let round = 0; round < 3; round++) {
    expect((await ns.execute(plan, memory, { timeoutNs: SECOND_NS })).failures).toEqual([])
    expect(wrongBytes(memory, 0)).toBe(0)
  }
  expect(ctrl.statistics.recoveries).toMatchObject({ ...recoveries, lost: 0 })
  await ctrl.close()
})

test('uses the registers of a controller that refuses shadow doorbells, and reports the refusal', async () => {
  const refusal = { kind: 'status', sct: 0, sc: 0x02, dnr: true } as const
  const events = watchEvents()
  const { ctrl, ns, memory } = await openWith({}, { faults: { rules: [rule(refusal, { qid: 0, opcode: 0x7c })] } })
  expect(events).toMatchObject([{ kind: 'refused', feature: 'shadow doorbells' }])
  await ns.read(0, 2048, memory)
  expect(wrongBytes(memory, 0)).toBe(0)
  await ctrl.close()
})

test('sends nothing to a controller without the command', async () => {
  const profile = deriveProfile('sn740', { identify: { OACS: {} } })
  const { ctrl, ns, memory } = await openWith({}, { profile })
  await ns.read(0, 2048, memory)
  expect(wrongBytes(memory, 0)).toBe(0)
  await ctrl.close()
})

test('places shared completion queues and a doorbell stride in the page', async () => {
  const profile = deriveProfile('sn740', { CAP: { DSTRD: 3 } })
  const { ctrl, ns, memory } = await openWith({ queues: 4, completionQueues: 1, queueEntries: 7 }, { profile })
  for (let round = 0; round < 20; round++) await ns.read(0, 2048, memory)
  expect(wrongBytes(memory, 0)).toBe(0)
  await ctrl.close()
})
