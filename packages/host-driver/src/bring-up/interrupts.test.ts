import { simulate } from '@gpunvme/nvme-sim'
import type { FaultAction, FaultMatch, Transport } from '@gpunvme/nvme-spec/transport'
import { afterEach, expect, test } from 'vitest'
import { patternMedia, wrongBytes } from '../../test/pattern.js'
import { Controller } from '../controller.js'

const MIB = 1024 * 1024
const READ = 0x02
const SECOND_NS = 1_000_000_000
let simulation: ReturnType<typeof simulate>
let fired: number[]

interface Machine {
  readonly rules?: readonly { readonly match: FaultMatch; readonly action: FaultAction }[]
  /** Whether no interrupt ever arrives. */
  readonly deaf?: boolean
}

/** Opens a controller with interrupts, and records the vectors that fire. */
async function openWith({ rules = [], deaf = false }: Machine, options: { completionQueues?: number } = {}) {
  simulation = simulate({ profile: 'sn740', namespaces: [{ media: patternMedia(16 * MIB) }], faults: { rules } })
  const { interrupts, clock } = simulation.transport
  fired = []
  const wait: NonNullable<Transport['interrupts']>['wait'] = async (vector, untilNs) => {
    if (deaf) {
      while (clock.now() < untilNs) await clock.idle(untilNs)
      return 'deadline'
    }
    const what = await interrupts!.wait(vector, untilNs)
    if (what === 'fired') fired.push(vector)
    return what
  }
  const ctrl = await Controller.open(
    { ...simulation.transport, interrupts: { vectors: interrupts!.vectors, wait } },
    { interrupts: true, queues: 2, queueDepth: 4, maxTransferBytes: 65536, ...options },
  )
  const ns = ctrl.namespace(1)
  return { ctrl, ns, memory: ns.dma.alloc(MIB) }
}

afterEach(() => {
  expect(simulation.diagnostics).toEqual([])
})

test.each([2, 1])(
  'one vector signals completions of all queues, Admin included: %i completion queues',
  async (count) => {
    const { ctrl, ns, memory } = await openWith({}, { completionQueues: count })
    const beforeReads = fired.length
    expect(beforeReads).toBeGreaterThan(0)
    await ns.read(0, 2048, memory)
    await ns.readBytes(0, 512)
    expect(fired.length).toBeGreaterThan(beforeReads)
    expect(new Set(fired)).toEqual(new Set([0]))
    expect(wrongBytes(memory, 0)).toBe(0)
    await ctrl.close()
  },
)

test('finds completions in time although no interrupt arrives', async () => {
  const { ctrl, ns, memory } = await openWith({ deaf: true })
  await ns.read(0, 2048, memory)
  expect(wrongBytes(memory, 0)).toBe(0)
  expect(ctrl.statistics).toMatchObject({ timeouts: 0, recoveries: { abort: 0 } })
  await ctrl.close()
})

test.each([
  ['a command that hangs', { kind: 'hang' }, 'abort'],
  ['a completion that is lost', { kind: 'drop-completion' }, 'recreate-queues'],
  ['a controller that fails', { kind: 'fatal-status' }, 'controller-reset'],
] as const)(
  'a recovery from %s is waited for in bounded time, with interrupts and without one',
  async (_, action, step) => {
    for (const deaf of [false, true]) {
      const { ctrl, ns, memory } = await openWith({
        deaf,
        rules: [{ match: { qid: 1, opcode: READ, nth: 3 }, action }],
      })
      const startNs = simulation.clock.now()
      const { failures } = await ns.execute(ns.planReads([{ slba: 0, blocks: 2048, offsetBytes: 0 }]), memory, {
        timeoutNs: SECOND_NS,
      })
      expect(failures).toEqual([])
      expect(wrongBytes(memory, 0)).toBe(0)
      expect(ctrl.statistics.recoveries).toMatchObject({ [step]: 1, lost: 0 })
      expect(simulation.clock.now() - startNs).toBeLessThan(SECOND_NS + ctrl.recoveryBoundNs)
      await ctrl.close()
    }
  },
)

test('rejects interrupts on a transport without them', async () => {
  simulation = simulate()
  const others = Object.entries(simulation.transport).filter(([name]) => name !== 'interrupts')
  const transport = Object.fromEntries(others) as unknown as Transport
  await expect(Controller.open(transport, { interrupts: true })).rejects.toThrow(
    `interrupts: transport ${transport.name} has none`,
  )
})
