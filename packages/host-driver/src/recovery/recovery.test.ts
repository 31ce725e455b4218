import { deriveProfile, simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { FaultAction, FaultMatch } from '@gpunvme/nvme-spec/transport'
import { afterEach, expect, test } from 'vitest'
import { collect } from '../../conformance/cases/support.js'
import { fillPattern, patternMedia, wrongBytes } from '../../test/pattern.js'
import { Controller } from '../controller.js'
import type { ControllerOptions } from '../running/open-options.js'
import type { ControllerEvent } from '../events/controller-event.js'

const MIB = 1024 * 1024
const READ = 0x02
const SECOND_NS = 1_000_000_000
const SERIAL = 'SIM00001'

let simulation: ReturnType<typeof simulate>

const rule = (action: FaultAction, match: FaultMatch) => ({ match, action })

async function openWith(
  rules: readonly ReturnType<typeof rule>[],
  options: Omit<ControllerOptions, 'engine'> = {},
  simulated: SimulationOptions = {},
) {
  const profile = deriveProfile('sn740', { identify: { SN: SERIAL } })
  simulation = simulate({
    profile,
    namespaces: [{ media: patternMedia(64 * MIB) }],
    faults: { rules },
    ...simulated,
  })
  const ctrl = await Controller.open(simulation.transport, {
    queues: 2,
    queueDepth: 8,
    maxTransferBytes: 65536,
    commandTimeoutNs: SECOND_NS,
    write: { serial: SERIAL },
    ...options,
  })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(MIB)
  const plan = ns.planReads([{ slba: 0, blocks: 2048, offsetBytes: 0 }])
  return { ctrl, ns, memory, plan }
}

afterEach(() => {
  expect(simulation.diagnostics).toEqual([])
})

const steps = (events: readonly ControllerEvent[]) =>
  events.flatMap((event) => (event.kind === 'recovery' ? [`${event.step} ${event.result}`] : []))

test.each([
  ['hangs', { kind: 'hang' }, ['abort begun', 'abort succeeded']],
  [
    'loses its completion',
    { kind: 'drop-completion' },
    ['abort begun', 'abort insufficient', 'recreate-queues begun', 'recreate-queues succeeded'],
  ],
  [
    'is posted with the old Phase Tag',
    { kind: 'corrupt-phase' },
    ['abort begun', 'abort insufficient', 'recreate-queues begun', 'recreate-queues succeeded'],
  ],
  ['sets CSTS.CFS', { kind: 'fatal-status' }, ['controller-reset begun', 'controller-reset succeeded']],
  [
    'is interrupted by a surprise reset',
    { kind: 'surprise-reset' },
    ['controller-reset begun', 'controller-reset succeeded'],
  ],
] as const)('a read that %s is read again', async (_, action, expected) => {
  const { ctrl, ns, memory, plan } = await openWith([rule(action, { qid: 1, opcode: READ, nth: 3 })])
  const seen = collect(ctrl.events())
  const startNs = simulation.clock.now()
  const { succeeded, failures } = await ns.execute(plan, memory, { timeoutNs: SECOND_NS })
  expect({ succeeded, failures }).toEqual({ succeeded: 16, failures: [] })
  expect(simulation.clock.now() - startNs).toBeLessThan(SECOND_NS + ctrl.recoveryBoundNs)
  expect(wrongBytes(memory, 0)).toBe(0)
  expect(ctrl.statistics.replays).toBeGreaterThan(0)
  await ctrl.close()
  expect(steps(await seen)).toEqual(expected)
})

test('resets the controller if new queues did not help, and the function if the controller does not become ready', async () => {
  const { ctrl, ns, memory, plan } = await openWith([
    rule({ kind: 'drop-completion' }, { qid: 1, opcode: READ, nth: 3 }),
    rule({ kind: 'hang' }, { qid: 0, opcode: 0x00, times: 1 }),
    rule({ kind: 'ready-never-rises' }, { nth: 2 }),
  ])
  const seen = collect(ctrl.events())
  const { succeeded } = await ns.execute(plan, memory, { timeoutNs: SECOND_NS })
  expect(succeeded).toBe(16)
  expect(wrongBytes(memory, 0)).toBe(0)
  await ctrl.close()
  expect(steps(await seen).filter((text) => !text.endsWith('begun'))).toEqual([
    'abort insufficient',
    'recreate-queues failed',
    'controller-reset failed',
    'function-reset succeeded',
  ])
})

test('a completion that arrives during the abort counts, also for a write', async () => {
  const { ctrl, ns } = await openWith(
    [rule({ kind: 'delay-completion', delayNs: SECOND_NS }, { qid: 1, opcode: 0x01, nth: 1 })],
    {},
    { namespaces: [{ capacityBytes: MIB }] },
  )
  const memory = ns.dma.alloc(4096)
  fillPattern(memory, 5)
  const summary = await ns.execute(ns.planWrites([{ slba: 0, blocks: 8, offsetBytes: 0 }]), memory, {
    timeoutNs: SECOND_NS,
  })
  expect(summary).toMatchObject({ succeeded: 1, failures: [] })
  expect(ctrl.statistics).toMatchObject({ lateCompletions: 1, replays: 0 })
  await ctrl.close()
})

test('a late completion counts if it arrives before the plan has ended', async () => {
  const { ctrl, ns, memory } = await openWith(
    [
      rule({ kind: 'delay-completion', delayNs: SECOND_NS }, { qid: 1, opcode: 0x01, nth: 1 }),
      rule({ kind: 'hang' }, { qid: 1, opcode: 0x01, nth: 16 }),
    ],
    { queues: 1 },
    { namespaces: [{ capacityBytes: MIB }] },
  )
  const plan = ns.planWrites([{ slba: 0, blocks: 2048, offsetBytes: 0 }])
  const { succeeded, failures } = await ns.execute(plan, memory, { timeoutNs: SECOND_NS })
  expect(succeeded).toBe(15)
  expect(failures).toMatchObject([{ command: 15, outcome: { kind: 'unknown' } }])
  expect(ctrl.statistics).toMatchObject({ timeouts: 1, lateCompletions: 0 })
  await ctrl.close()
})

test('a write without a completion is unknown, and is not written again', async () => {
  const { ctrl, ns } = await openWith(
    [rule({ kind: 'drop-completion' }, { qid: 1, opcode: 0x01, nth: 1 })],
    {},
    {
      namespaces: [{ capacityBytes: MIB }],
    },
  )
  const plan = ns.planWrites([{ slba: 0, blocks: 8, offsetBytes: 0 }])
  const summary = await ns.execute(plan, ns.dma.alloc(4096), { timeoutNs: SECOND_NS })
  expect(summary).toMatchObject({
    succeeded: 0,
    failures: [{ command: 0, outcome: { kind: 'unknown', afterNs: SECOND_NS } }],
  })
  expect(ctrl.statistics.replays).toBe(0)
  const again = await ns.execute(plan, ns.dma.alloc(4096))
  expect(again.failures).toEqual([])
  await ctrl.close()
})

test('reads of a block that never complete time out after two replays, and the controller stays usable', async () => {
  const { ctrl, ns, memory, plan } = await openWith([rule({ kind: 'hang' }, { opcode: READ, lba: [300, 300] })])
  const { succeeded, failures } = await ns.execute(plan, memory, { timeoutNs: SECOND_NS })
  expect(succeeded).toBe(15)
  expect(failures).toMatchObject([{ command: 2, outcome: { kind: 'timeout', afterNs: SECOND_NS } }])
  expect(ctrl.statistics).toMatchObject({ replays: 2, timeouts: 3, recoveries: { abort: 1, lost: 0 } })
  await ns.read(512, 128, memory)
  await ctrl.close()
})

test('a removed device is lost: one event, no further register access, and a handle that reports it', async () => {
  const { ctrl, ns, memory, plan } = await openWith([rule({ kind: 'remove-device' }, { qid: 1, opcode: READ, nth: 3 })])
  const seen = collect(ctrl.events())
  const { commands, succeeded, failures } = await ns.execute(plan, memory, { timeoutNs: SECOND_NS })
  expect(succeeded + failures.length).toBe(commands)
  expect(ctrl.statistics.recoveries.lost).toBe(1)
  await expect(ns.execute(plan, memory)).rejects.toMatchObject({ code: 'ERR_GPUNVME_DEVICE_LOST' })
  await ctrl.close()
  expect((await seen).map(({ kind }) => kind)).toEqual(['lost'])
})

test('retries a retryable status after the requested delay, at most four times', async () => {
  const busy = { kind: 'status', sct: 0, sc: 0x82 } as const
  const { ctrl, ns, memory, plan } = await openWith([rule(busy, { opcode: READ, times: 3 })])
  expect((await ns.execute(plan, memory)).failures).toEqual([])
  expect(ctrl.statistics).toMatchObject({ retries: 3, replays: 0 })
  await ctrl.close()
  const never = await openWith([rule(busy, { opcode: READ, lba: [0, 0] })])
  const { failures } = await never.ns.execute(never.plan, never.memory)
  expect(failures).toMatchObject([{ command: 0, outcome: { kind: 'status', sct: 0, sc: 0x82 } }])
  expect(never.ctrl.statistics.retries).toBe(4)
  await never.ctrl.close()
})

test('declares the controller lost within the stated bound if a function reset does not end', async () => {
  simulation = simulate({
    profile: 'sn740',
    faults: {
      rules: [
        rule({ kind: 'fatal-status' }, { qid: 1, opcode: READ, nth: 1 }),
        rule({ kind: 'ready-never-rises' }, { nth: 2 }),
      ],
    },
  })
  const transport = { ...simulation.transport, reset: () => new Promise<void>(() => undefined) }
  const ctrl = await Controller.open(transport)
  const startNs = simulation.clock.now()
  await expect(ctrl.namespace(1).readBytes(0, 512)).rejects.toThrow('failed')
  expect(simulation.clock.now() - startNs).toBeLessThan(ctrl.recoveryBoundNs + SECOND_NS)
  expect(ctrl.statistics.recoveries).toMatchObject({ 'controller-reset': 1, 'function-reset': 1, lost: 1 })
  await ctrl.close()
})

test('several plans share one recovery', async () => {
  const { ctrl, ns, plan } = await openWith([rule({ kind: 'hang' }, { qid: 1, opcode: READ, nth: 3 })])
  const memories = [0, 1, 2].map(() => ns.dma.alloc(MIB))
  const summaries = await Promise.all(memories.map((memory) => ns.execute(plan, memory, { timeoutNs: SECOND_NS })))
  expect(summaries.flatMap(({ failures }) => failures)).toEqual([])
  expect(memories.map((memory) => wrongBytes(memory, 0))).toEqual([0, 0, 0])
  expect(ctrl.statistics.recoveries.abort).toBe(1)
  await ctrl.close()
})

test('a controller with one I/O queue pair takes turns between plans and single commands', async () => {
  const profile = deriveProfile('sn740', { identify: { SN: SERIAL }, ioQueuePairs: 1 })
  const { ctrl, ns, memory, plan } = await openWith(
    [],
    {},
    { profile, namespaces: [{ media: patternMedia(64 * MIB) }] },
  )
  expect(ctrl.queues).toBe(1)
  const [summary] = await Promise.all([ns.execute(plan, memory), ns.flush(), ns.flush()])
  expect(summary.failures).toEqual([])
  expect(wrongBytes(memory, 0)).toBe(0)
  await ctrl.close()
})

test('submission queues that share a completion queue receive their own completions', async () => {
  const { ctrl, ns, memory, plan } = await openWith(
    [rule({ kind: 'drop-completion' }, { qid: 2, opcode: READ, nth: 1 })],
    { queues: 4, completionQueues: 1, queueDepth: 5, queueEntries: 7 },
  )
  expect((await ns.execute(plan, memory, { timeoutNs: SECOND_NS })).failures).toEqual([])
  expect(wrongBytes(memory, 0)).toBe(0)
  await ctrl.close()
})

test('sends a hanging flush again after a recovery', async () => {
  const { ctrl, ns } = await openWith([rule({ kind: 'hang' }, { qid: 3, opcode: 0x00, nth: 1 })])
  await ns.flush()
  expect(ctrl.statistics).toMatchObject({ timeouts: 1, recoveries: { abort: 1 } })
  await ctrl.close()
})

test('a namespace that another host resized has its new size, and an event reports it', async () => {
  const { ctrl, ns } = await openWith([
    rule({ kind: 'resize-namespace', nsid: 1, blocks: 1000 }, { atNs: 10 * SECOND_NS }),
  ])
  const events = ctrl.events()
  const { value } = (await events.next()) as { value: ControllerEvent }
  expect(value).toMatchObject({ kind: 'namespaces-changed', nsids: [1] })
  expect(ns.blocks).toBe(1000)
  await ctrl.close()
  expect((await events.next()).done).toBe(true)
})

test.each(['abortNs', 'queuesNs', 'restartNs'])('a limit %s of undefined means the default', async (name) => {
  const { ctrl } = await openWith([])
  const bound = ctrl.recoveryBoundNs
  await ctrl.close()
  const again = await openWith([], { recovery: { [name]: undefined } })
  expect(again.ctrl.recoveryBoundNs).toBe(bound)
  expect(bound).toBeLessThan(300 * SECOND_NS)
  await again.ctrl.close()
})
