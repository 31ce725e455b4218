import { deriveProfile, simulate, type SimulationOptions } from '@gpunvme/nvme-sim'
import { formatAsyncEvent } from '@gpunvme/nvme-spec'
import type { FaultMatch } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { Controller } from '../controller.js'

const MS = 1_000_000

/** Changed namespaces, a health warning, an error: type, information and log page (Base 2.1 §5.1.2.1). */
const EVENTS = [
  ['changed namespaces', { aet: 2, aei: 0, lid: 4 }],
  ['health', { aet: 1, aei: 1, lid: 2 }],
  ['errors', { aet: 0, aei: 0, lid: 1 }],
  ['a log page that does not exist', { aet: 2, aei: 1, lid: 0x70 }],
] as const

/** A drive that reports an event whenever `match` holds, masked or not. */
async function flooded(
  event: (typeof EVENTS)[number][1],
  profile: NonNullable<SimulationOptions['profile']>,
  match: FaultMatch,
  more: readonly NonNullable<SimulationOptions['faults']>['rules'][number][] = [],
) {
  const rules = [{ match, action: { kind: 'async-event', ...event } } as const, ...more]
  const simulation = simulate({ profile, faults: { rules }, namespaces: [{ capacityBytes: 16 * 1024 * 1024 }] })
  const ctrl = await Controller.open(simulation.transport)
  return { simulation, ctrl, ns: ctrl.namespace(1), clock: simulation.clock, openedNs: simulation.clock.now() }
}

const withEveryAdminCommand: FaultMatch = { qid: 0 }
const withEveryRead: FaultMatch = { qid: 1 }
const withEveryLookAtStatus: FaultMatch = { register: 'CSTS', access: 'read' }

describe.each(EVENTS)('a controller that does not mask events (%s)', (_, event) => {
  test('leaves time for reads: a hundred take at most three times as long', async () => {
    const timeOf = async (match: FaultMatch) => {
      const { ctrl, ns, clock, openedNs, simulation } = await flooded(event, 'p5800x', match)
      for (let read = 0; read < 100; read++) await ns.readBytes(0, 4096)
      const tookNs = clock.now() - openedNs
      const [events] = simulation.faults.hits
      await ctrl.close()
      return { tookNs, events: events! }
    }
    const calm = await timeOf({ qid: 0, nth: 100_000 })
    for (const match of [withEveryAdminCommand, withEveryRead, withEveryLookAtStatus]) {
      const flood = await timeOf(match)
      expect(flood.events).toBeGreaterThanOrEqual(4)
      expect(flood.tookNs).toBeLessThan(3 * calm.tookNs)
    }
  })

  test('receives at most 20 requests in 100 ms, and more afterwards', async () => {
    const slow = deriveProfile('ideal', { adminNs: MS })
    const { ctrl, clock, openedNs, simulation } = await flooded(event, slow, withEveryAdminCommand)
    const [before] = simulation.faults.hits
    while (clock.now() < openedNs + 1000 * MS) {
      await ctrl.smartLog()
      await new Promise(setImmediate)
    }
    const asked = simulation.faults.hits[0]! - before!
    expect(asked).toBeGreaterThan(100)
    expect(asked).toBeLessThanOrEqual(20 * 10)
    await ctrl.close()
  })

  test('does not keep a drive without latency from reaching a time-out', async () => {
    const hang = { match: { opcode: 2, qid: 1, nth: 1 }, action: { kind: 'hang' } } as const
    const { ctrl, ns, clock } = await flooded(event, 'ideal', withEveryLookAtStatus, [hang])
    const startNs = clock.now()
    const bytes = await ns.readBytes(0, 512, { timeoutNs: 200 * MS })
    expect(bytes).toHaveLength(512)
    expect(ctrl.statistics).toMatchObject({ timeouts: 1, replays: 1 })
    expect(clock.now() - startNs).toBeLessThan(1000 * MS)
    await ctrl.close()
  })
})

test('reads a log page once for events that are reported together, and reports each different one once', async () => {
  const event = (aei: number) =>
    ({ match: { atNs: 1e9 }, action: { kind: 'async-event', aet: 0, aei, lid: 1 } }) as const
  const simulation = simulate({ faults: { rules: [event(0), event(1), event(1), event(0)] } })
  const ctrl = await Controller.open(simulation.transport)
  const logPages = () => simulation.statistics.adminCommands[0x02] ?? 0
  const before = logPages()
  const events = ctrl.events()
  expect((await events.next()).value).toMatchObject({ kind: 'error', text: formatAsyncEvent(0x01_00_00) })
  expect((await events.next()).value).toMatchObject({ kind: 'error', text: formatAsyncEvent(0x01_01_00) })
  expect(simulation.faults.hits).toEqual([1, 1, 1, 1])
  expect(logPages() - before).toBe(1)
  await ctrl.close()
})
