import { simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import type { FaultAction, FaultMatch, Plan } from '@gpunvme/nvme-spec/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { patternMedia, wrongBytes } from '../../test/pattern.js'
import { Controller } from '../controller.js'
import { HostEngine } from './host-engine.js'
import { TransferError } from '../namespace/transfer-error.js'

const MIB = 1024 * 1024
const READ = 0x02
const SECOND_NS = 1_000_000_000

const fault = (action: FaultAction, match: FaultMatch = { opcode: READ, nth: 3 }) => ({
  faults: { rules: [{ match: { qid: 1, ...match }, action }] },
})

let simulation: ReturnType<typeof simulate>

async function openWith(options: SimulationOptions) {
  simulation = simulate({ profile: 'sn740', namespaces: [{ media: patternMedia(64 * MIB) }], ...options })
  const engine = new HostEngine(simulation.transport)
  const ctrl = await Controller.open(simulation.transport, { engine, queueDepth: 8, maxTransferBytes: 65536 })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(MIB)
  const plan = ns.planReads([{ slba: 0, blocks: 2048, offsetBytes: 0 }])
  return { engine, ctrl, ns, memory, plan }
}

afterEach(() => {
  expect(simulation.diagnostics).toEqual([])
})

test('an observer receives each command once, with times inside those of the plan', async () => {
  simulation = simulate({ profile: 'sn740', namespaces: [{ media: patternMedia(64 * MIB) }] })
  const seen: [queue: number, slot: number, submittedNs: number, completedNs: number][] = []
  const engine = new HostEngine(simulation.transport, { onCompleted: (...command) => seen.push(command) })
  const ctrl = await Controller.open(simulation.transport, {
    engine,
    queues: 2,
    queueDepth: 4,
    maxTransferBytes: 65536,
  })
  const ns = ctrl.namespace(1)
  const { startNs, endNs } = await ns.execute(
    ns.planReads([{ slba: 0, blocks: 2048, offsetBytes: 0 }]),
    ns.dma.alloc(MIB),
  )
  await ctrl.close()
  expect(seen).toHaveLength(16)
  expect(new Set(seen.map(([queue]) => queue))).toEqual(new Set([0, 1]))
  // No slot has two commands at a time.
  for (const [queue, slot] of seen) {
    const own = seen.filter((each) => each[0] === queue && each[1] === slot)
    own.slice(1).forEach(([, , submittedNs], index) => expect(submittedNs).toBeGreaterThanOrEqual(own[index]![3]))
  }
  for (const [, , submittedNs, completedNs] of seen) {
    expect(submittedNs).toBeGreaterThanOrEqual(startNs)
    expect(completedNs).toBeGreaterThan(submittedNs)
    expect(completedNs).toBeLessThanOrEqual(endNs)
  }
})

test('rejects an unknown option', () => {
  simulation = simulate()
  const wrong: object = { onComplete: () => undefined }
  expect(() => new HostEngine(simulation.transport, wrong)).toThrow(
    "HostEngine: unknown 'onComplete'; known are onCompleted",
  )
})

describe('one outcome for each command', () => {
  test('all succeed, over many laps of the rings', async () => {
    const { engine, ctrl, ns, memory } = await openWith({})
    const plan = ns.planReads(
      Array.from({ length: 400 }, (_, index) => ({ slba: index * 8, blocks: 8, offsetBytes: (index % 256) * 4096 })),
    )
    const summary = await ns.execute(plan, memory)
    expect(summary).toMatchObject({ commands: 400, succeeded: 400, bytes: 400 * 4096, failures: [] })
    expect(engine.statistics.staleCompletions).toBe(0)
    await ctrl.close()
  })

  test('a status is reported with its command, and other commands continue', async () => {
    const { ctrl, ns, memory, plan } = await openWith(fault({ kind: 'status', sct: 2, sc: 0x81, dnr: true }))
    const { succeeded, failures } = await ns.execute(plan, memory)
    expect(succeeded).toBe(15)
    expect(failures).toEqual([
      {
        command: 2,
        qid: 1,
        cid: expect.any(Number) as number,
        outcome: { kind: 'status', sct: 2, sc: 0x81, dnr: true, more: true, crd: 0 },
      },
    ])
    await ctrl.close()
  })

  test('a duplicate completion is counted, and credited to no command', async () => {
    const { engine, ctrl, ns, memory, plan } = await openWith(fault({ kind: 'duplicate-completion' }))
    const summary = await ns.execute(plan, memory)
    expect(summary).toMatchObject({ succeeded: 16, failures: [] })
    expect(engine.statistics.staleCompletions).toBe(1)
    expect(wrongBytes(memory, 0)).toBe(0)
    await ctrl.close()
  })

  test('a completion with a foreign identifier is counted, and its command is replayed', async () => {
    const { engine, ctrl, ns, memory, plan } = await openWith(fault({ kind: 'corrupt-cid', xor: 0x4000 }))
    const { succeeded } = await ns.execute(plan, memory, { timeoutNs: SECOND_NS })
    expect(succeeded).toBe(16)
    expect(wrongBytes(memory, 0)).toBe(0)
    expect(engine.statistics.staleCompletions).toBe(1)
    await ctrl.close()
  })

  test('all commands in flight on a removed device end as device-lost', async () => {
    const { ctrl, ns, memory, plan } = await openWith(fault({ kind: 'remove-device' }))
    const startNs = simulation.clock.now()
    const { commands, succeeded, failures } = await ns.execute(plan, memory)
    expect(succeeded + failures.length).toBe(commands)
    expect(failures.some(({ outcome }) => outcome.kind === 'device-lost')).toBe(true)
    expect(failures.every(({ outcome }) => ['device-lost', 'not-submitted'].includes(outcome.kind))).toBe(true)
    expect(simulation.clock.now() - startNs).toBeLessThan(SECOND_NS)
    await ctrl.close()
  })
})

describe('several plans at once', () => {
  test('all complete, each with its own data', async () => {
    const { ctrl, ns } = await openWith({})
    const reads = Array.from({ length: 5 }, async (_, index) => {
      const memory = ns.dma.alloc(MIB)
      await ns.read(index * 2048, 2048, memory)
      return wrongBytes(memory, index * MIB)
    })
    expect(await Promise.all(reads)).toEqual([0, 0, 0, 0, 0])
    await ctrl.close()
  })

  test('an aborted one ends its commands in flight and throws the reason; the other is complete', async () => {
    const { ctrl, ns } = await openWith({})
    const abort = new AbortController()
    const doomed = ns.dma.alloc(16 * MIB)
    const reading = ns.read(0, (16 * MIB) / 512, doomed, { signal: abort.signal })
    const memory = ns.dma.alloc(MIB)
    const other = ns.read(0, 2048, memory)
    abort.abort(new Error('changed my mind'))
    await expect(reading).rejects.toThrow('changed my mind')
    await other
    expect(wrongBytes(memory, 0)).toBe(0)
    await ctrl.close()
  })
})

test('the error of a failed read names command, queue, namespace and LBA', async () => {
  const { ctrl, ns, memory } = await openWith(
    fault({ kind: 'status', sct: 0, sc: 0x80, dnr: true }, { opcode: READ, nth: 1 }),
  )
  const read = ns.read(0x3b9, 16, memory)
  await expect(read).rejects.toThrow(TransferError)
  await expect(read).rejects.toThrow(
    /^Read failed: LBA Out of Range \(SCT 0h SC 80h, DNR, M\)\n {2}CID 0x[0-9a-f]+ {2}qid 1 {2}NSID 1 {2}SLBA 0x3b9 {2}16 blocks\n/,
  )
  await ctrl.close()
})

describe('a plan that the caller changes during execution', () => {
  /** Overwrites every array of a plan. */
  const change = ({ slba, blocks, offsetBytes, queue }: Plan) => {
    for (const column of [slba, blocks, offsetBytes, queue]) column.fill(1)
  }

  test('is executed unchanged', async () => {
    const { ctrl, ns, memory } = await openWith({})
    const plan = ns.planReads([{ slba: 0, blocks: 2048, offsetBytes: 0 }])
    const reading = ns.execute(plan, memory)
    change(plan)
    expect(await reading).toMatchObject({ commands: 16, succeeded: 16, bytes: MIB, failures: [] })
    expect(wrongBytes(memory, 0)).toBe(0)
    await ctrl.close()
  })

  test('is retried unchanged after a retryable status', async () => {
    const { ctrl, ns, memory, plan } = await openWith(fault({ kind: 'status', sct: 0, sc: 0x06, dnr: false }))
    const reading = ns.execute(plan, memory)
    change(plan)
    expect(await reading).toMatchObject({ succeeded: 16, failures: [] })
    expect(wrongBytes(memory, 0)).toBe(0)
    await ctrl.close()
  })
})

describe('rejects an invalid plan before anything is staged', () => {
  test.each([
    ['bytes beyond the memory', { offsetBytes: Float64Array.of(8 * MIB - 512) }],
    ['no blocks', { blocks: Uint32Array.of(0) }],
    ['more than its PRP list can hold', { blocks: Uint32Array.of(8192) }],
    ['a queue that is not there', { queue: Uint16Array.of(1) }],
    ['an array of another length', { slba: Float64Array.of(0, 8) }],
    ['an LBA that is no integer', { slba: Float64Array.of(0.5) }],
    ['an address that is not dword aligned', { offsetBytes: Float64Array.of(2) }],
  ])('%s', async (_, change) => {
    const { ctrl, ns } = await openWith({})
    const memory = ns.dma.alloc(8 * MIB)
    const plan = { ...ns.planReads([{ slba: 0, blocks: 8, offsetBytes: 0 }]), ...change }
    const before = simulation.statistics.doorbellWrites
    await expect(ns.execute(plan, memory)).rejects.toThrow(RangeError)
    expect(simulation.statistics.doorbellWrites).toBe(before)
    await ctrl.close()
  })
})

test.each([NaN, 0, -1, Infinity])('rejects a time-out of %d ns', async (timeoutNs) => {
  const { ctrl, ns, memory, plan } = await openWith({})
  await expect(ns.execute(plan, memory, { timeoutNs })).rejects.toThrow('timeoutNs: expected a finite number')
  await ctrl.close()
})

test('a transport failure ends all plans and closes the handle', async () => {
  simulation = simulate({ profile: 'sn740' })
  let broken = false
  const { transport } = simulation
  const idle = (untilNs: number) =>
    broken ? Promise.reject(new Error('the bus is gone')) : transport.clock.idle(untilNs)
  const clock = { now: () => transport.clock.now(), idle }
  const ctrl = await Controller.open({ ...transport, clock })
  const ns = ctrl.namespace(1)
  const plan = ns.planReads([{ slba: 0, blocks: 2048, offsetBytes: 0 }])
  broken = true
  const both = await Promise.allSettled([ns.execute(plan, ns.dma.alloc(MIB)), ns.execute(plan, ns.dma.alloc(MIB))])
  for (const result of both) {
    expect(result).toMatchObject({ status: 'rejected', reason: { code: 'ERR_GPUNVME_ENGINE_FAILED' } })
  }
  await expect(ns.execute(plan, ns.dma.alloc(MIB))).rejects.toMatchObject({ code: 'ERR_GPUNVME_DEVICE_LOST' })
  await ctrl.close()
})

test('rings one doorbell for a batch of commands', async () => {
  const { engine, ctrl, ns, memory } = await openWith({ profile: 'ideal' })
  await ns.execute(ns.planReads(Array.from({ length: 800 }, () => ({ slba: 0, blocks: 1, offsetBytes: 0 }))), memory)
  const { commands, doorbellWrites } = engine.statistics
  expect(commands).toBe(800)
  expect(doorbellWrites).toBeLessThan(800)
  await ctrl.close()
})
