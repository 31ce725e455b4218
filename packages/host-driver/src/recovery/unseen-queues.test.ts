import { deriveProfile, simulate, type Simulation, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { DmaMemory, FaultAction, FaultMatch } from '@gpunvme/nvme-spec/transport'
import { afterEach, expect, test } from 'vitest'
import { fillPattern, patternMedia, wrongBytes } from '../../test/pattern.js'
import { SightedEngine, UnseenMemory, type GpuAbility } from '../../test/sighted-engine.js'
import { Controller } from '../controller.js'
import { HostEngine } from '../engine/host-engine.js'
import type { ControllerEvent } from '../events/controller-event.js'
import type { ControllerOptions } from '../running/open-options.js'
import { traced } from '../wrap/traced.js'

const MIB = 1024 * 1024
const READ = 0x02
const WRITE = 0x01
const SECOND_NS = 1_000_000_000
const SERIAL = 'SIM00001'
const BOTH: readonly GpuAbility[] = ['fill', 'copyOut']

let simulation: Simulation

interface Shape {
  readonly abilities?: readonly GpuAbility[]
  readonly rules?: readonly { readonly match: FaultMatch; readonly action: FaultAction }[]
  readonly simulated?: SimulationOptions
  readonly options?: ControllerOptions
  readonly isTraced?: boolean
}

/** Opens a controller whose queues for plans are in memory without a host view. */
function openUnseen({
  abilities = BOTH,
  rules = [],
  simulated = { namespaces: [{ media: patternMedia(64 * MIB) }] },
  options,
  isTraced = false,
}: Shape = {}) {
  const profile = deriveProfile('sn740', { identify: { SN: SERIAL } })
  simulation = simulate({ profile, faults: { rules }, ...simulated })
  const { transport: real } = simulation
  const dma = new UnseenMemory(real.dma, abilities)
  const transport = isTraced ? traced({ ...real, dma }, () => undefined) : { ...real, dma }
  const opening = Controller.open(transport, {
    queues: 2,
    queueDepth: 8,
    maxTransferBytes: 65536,
    queueMemory: 'gpu',
    engine: new SightedEngine(new HostEngine(real), dma),
    write: { serial: SERIAL },
    ...options,
  })
  return { opening, dma }
}

async function opened(shape: Shape = {}) {
  const { opening, dma } = openUnseen(shape)
  const ctrl = await opening
  const ns = ctrl.namespace(1)
  const seen: ControllerEvent[] = []
  const listening = (async () => {
    for await (const event of ctrl.events()) seen.push(event)
  })()
  const steps = async () => {
    await ctrl.close()
    await listening
    return seen.flatMap((event) => (event.kind === 'recovery' ? [`${event.step} ${event.result}`] : []))
  }
  return { ctrl, ns, dma, steps, plan: ns.planReads([{ slba: 0, blocks: 2048, offsetBytes: 0 }]) }
}

afterEach(() => {
  expect(simulation.diagnostics).toEqual([])
})

test.each([false, true])(
  'queues without a host view are initialized, used and freed (traced: %s)',
  async (isTraced) => {
    const { ctrl, ns, dma, plan } = await opened({ isTraced })
    // Submission queue, completion queue and PRP lists of two queue pairs.
    expect(dma.live.size).toBe(6)
    const memory = ns.dma.alloc(MIB)
    for (let round = 0; round < 4; round++) expect((await ns.execute(plan, memory)).failures).toEqual([])
    expect(wrongBytes(memory, 0)).toBe(0)
    await ns.flush()
    await ctrl.close()
    expect(dma.live.size).toBe(0)
    expect(dma.copies).toBe(0)
  },
)

test('data arrives in memory without a host view', async () => {
  const { ctrl, ns, dma, plan } = await opened()
  const memory = ns.dma.alloc(MIB, { where: 'gpu' })
  expect(memory.view).toBeUndefined()
  expect((await ns.execute(plan, memory)).failures).toEqual([])
  expect(wrongBytes(dma.seen(memory), 0)).toBe(0)
  memory.free()
  expect(() => memory.fill!(0, 0, 1)).toThrow(TypeError)
  expect(() => memory.copyOut!(0, new Uint8Array(1))).toThrow(TypeError)
  await ctrl.close()
  expect(dma.live.size).toBe(0)
})

test('rejects memory with neither a view nor fill with the next step, and keeps nothing', async () => {
  const { opening, dma } = openUnseen({ abilities: ['copyOut'] })
  await expect(opening).rejects.toThrow(TypeError)
  await expect(opening).rejects.toThrow(/^queue memory: expected a view, or fill\(\).*queueMemory: "host"/)
  expect(dma.live.size).toBe(0)
})

test('rejects queues without a host view if the only I/O queue pair also serves single commands', async () => {
  const profile = deriveProfile('sn740', { identify: { SN: SERIAL }, ioQueuePairs: 1 })
  const { opening, dma } = openUnseen({ simulated: { profile } })
  await expect(opening).rejects.toMatchObject({ code: 'ERR_GPUNVME_UNSUPPORTED_CONTROLLER' })
  await expect(opening).rejects.toThrow('it allows one I/O queue pair')
  expect(dma.live.size).toBe(0)
})

const ruleFor = (action: FaultAction, opcode = READ, nth = 3) => [{ action, match: { qid: 1, opcode, nth } }]
const UNAVAILABLE = ['abort unavailable', 'recreate-queues begun', 'recreate-queues succeeded']
const RECREATED = ['abort begun', 'abort insufficient', 'recreate-queues begun', 'recreate-queues succeeded']

test.each([
  ['hangs', BOTH, { kind: 'hang' }, ['abort begun', 'abort succeeded']],
  ['loses its completion', BOTH, { kind: 'drop-completion' }, RECREATED],
  ['hangs', ['fill'], { kind: 'hang' }, UNAVAILABLE],
  ['loses its completion', ['fill'], { kind: 'drop-completion' }, UNAVAILABLE],
  ['is late', ['fill'], { kind: 'delay-completion', delayNs: SECOND_NS }, UNAVAILABLE],
  ['sets CSTS.CFS', ['fill'], { kind: 'fatal-status' }, ['controller-reset begun', 'controller-reset succeeded']],
] as const)('repeats a read that %s, on queues with %j and no view', async (_, abilities, action, expected) => {
  const { ctrl, ns, dma, plan, steps } = await opened({ abilities, rules: ruleFor(action) })
  const memory = ns.dma.alloc(MIB)
  const startNs = simulation.clock.now()
  expect(await ns.execute(plan, memory, { timeoutNs: SECOND_NS })).toMatchObject({ succeeded: 16, failures: [] })
  expect(simulation.clock.now() - startNs).toBeLessThan(SECOND_NS + ctrl.recoveryBoundNs)
  expect(wrongBytes(memory, 0)).toBe(0)
  // The queues stay usable over several laps.
  for (let round = 0; round < 4; round++) expect((await ns.execute(plan, memory)).failures).toEqual([])
  expect(await steps()).toEqual(expected)
  expect(dma.live.size).toBe(0)
})

const writable = { namespaces: [{ capacityBytes: MIB }] }

test('a write with a late completion succeeds if completions can be copied out', async () => {
  const rules = ruleFor({ kind: 'delay-completion', delayNs: SECOND_NS }, WRITE, 1)
  const { ctrl, ns, dma } = await opened({ rules, simulated: writable })
  const memory = ns.dma.alloc(4096)
  fillPattern(memory, 5)
  const summary = await ns.execute(ns.planWrites([{ slba: 0, blocks: 8, offsetBytes: 0 }]), memory, {
    timeoutNs: SECOND_NS,
  })
  expect(summary).toMatchObject({ succeeded: 1, failures: [] })
  expect(ctrl.statistics).toMatchObject({ lateCompletions: 1, replays: 0 })
  expect(dma.copies).toBeGreaterThan(0)
  await ctrl.close()
})

test('a write with a late error status has that status, not an unknown outcome', async () => {
  const match = { qid: 1, opcode: WRITE, nth: 1 }
  const rules = [
    { action: { kind: 'delay-completion', delayNs: SECOND_NS }, match },
    { action: { kind: 'status', sct: 2, sc: 0x80, dnr: true }, match },
  ] as const
  const { ctrl, ns } = await opened({ rules, simulated: writable })
  const plan = ns.planWrites([{ slba: 0, blocks: 8, offsetBytes: 0 }])
  const { failures } = await ns.execute(plan, ns.dma.alloc(4096), { timeoutNs: SECOND_NS })
  expect(failures).toMatchObject([{ command: 0, outcome: { kind: 'status', sct: 2, sc: 0x80 } }])
  await ctrl.close()
})

test('a write with a late completion has an unknown outcome at once if completions cannot be copied out', async () => {
  const rules = ruleFor({ kind: 'delay-completion', delayNs: 100 * SECOND_NS }, WRITE, 1)
  const { ctrl, ns } = await opened({ abilities: ['fill'], rules, simulated: writable })
  const plan = ns.planWrites([{ slba: 0, blocks: 8, offsetBytes: 0 }])
  const startNs = simulation.clock.now()
  const summary = await ns.execute(plan, ns.dma.alloc(4096), { timeoutNs: SECOND_NS })
  expect(summary.failures).toMatchObject([{ command: 0, outcome: { kind: 'unknown', afterNs: SECOND_NS } }])
  // The time limit, and less than the second that Abort may take.
  expect(simulation.clock.now() - startNs).toBeLessThan(2 * SECOND_NS)
  expect((await ns.execute(plan, ns.dma.alloc(4096))).failures).toEqual([])
  await ctrl.close()
})

test('declares the controller lost if completions can no longer be copied out, and settles every command', async () => {
  const { ctrl, ns, dma, plan } = await opened({ rules: ruleFor({ kind: 'hang' }) })
  for (const memory of dma.live as Set<{ -readonly [K in keyof DmaMemory]: DmaMemory[K] }>) {
    memory.copyOut = memory.fill = () => {
      throw new Error('the GPU is gone')
    }
  }
  const { commands, succeeded, failures } = await ns.execute(plan, ns.dma.alloc(MIB), { timeoutNs: SECOND_NS })
  expect(succeeded + failures.length).toBe(commands)
  expect(failures.map(({ outcome }) => outcome)).toMatchObject(
    failures.map(() => ({ kind: 'device-lost', reason: expect.stringContaining('the GPU is gone') as string })),
  )
  expect(failures.length).toBeGreaterThan(0)
  await ctrl.close()
})
