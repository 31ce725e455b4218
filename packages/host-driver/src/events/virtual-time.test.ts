import { simulate, SimulatedHost } from '@gpunvme/nvme-sim'
import type { Transport } from '@gpunvme/nvme-spec/transport'
import { describe, expect, test } from 'vitest'
import { Controller } from '../controller.js'
import { faulty } from '../wrap/faulty.js'

const S = 1e9

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate)
}

describe('awaiting an event on a virtual clock', () => {
  test.each<[string, boolean, (transport: Transport) => Transport]>([
    ['of one drive', false, (transport) => transport],
    ['of several drives', true, (transport) => transport],
    ['behind faulty()', false, (transport) => faulty(transport, { rules: [] })],
  ])('takes no time while nothing is scheduled, on the clock %s', async (_, isShared, wrap) => {
    const simulation = simulate(isShared ? { host: new SimulatedHost() } : {})
    const ctrl = await Controller.open(wrap(simulation.transport))
    const { clock } = simulation
    const next = ctrl.events().next()
    await turns(100)
    const startNs = clock.now()
    await turns(500)
    expect(clock.now()).toBe(startNs)
    // Available Spare below its threshold: an event that the controller reports at once.
    simulation.setHealth({ availableSparePercent: 9 })
    expect((await next).value).toMatchObject({ kind: 'health', criticalWarning: 1 })
    expect(clock.now() - startNs).toBeLessThan(S)
    await ctrl.close()
  })

  test('takes no time either while the driver waits for interrupts', async () => {
    const { transport, clock } = simulate()
    const ctrl = await Controller.open(transport, { interrupts: true })
    void ctrl.events().next()
    await turns(100)
    const startNs = clock.now()
    await turns(500)
    expect(clock.now()).toBe(startNs)
    await ctrl.close()
  })

  test('lets time pass up to a fault at a time, of the drive or at its registers', async () => {
    const detach = { match: { atNs: 5 * S }, action: { kind: 'detach-namespace', nsid: 1 } } as const
    const remove = { match: { atNs: 9 * S }, action: { kind: 'remove-device' } } as const
    const { transport, clock } = simulate({ faults: { rules: [detach] } })
    const ctrl = await Controller.open(faulty(transport, { rules: [remove] }))
    const events = ctrl.events()
    expect((await events.next()).value).toMatchObject({ kind: 'namespaces-changed', nsids: [1] })
    expect([clock.now() >= 5 * S, clock.now() < 6 * S]).toEqual([true, true])
    await turns(500)
    expect(clock.now()).toBeLessThan(6 * S)
    const over = events.next()
    await turns(500)
    expect(clock.now()).toBe(9 * S)
    void over
    await ctrl.close().catch(() => undefined)
  })
})
