import { simulate } from '@gpunvme/nvme-sim'
import type { FaultAction, FaultMatch, Transport } from '@gpunvme/nvme-spec/transport'
import { afterEach, describe, expect, test } from 'vitest'
import { countedAllocator } from '../../test/counted-allocator.js'
import { watchEvents } from '../../test/watch-events.js'
import { Controller } from '../controller.js'
import { CutBar } from './cut-bar.js'

const SECOND_NS = 1_000_000_000
let simulation: ReturnType<typeof simulate>

function transportWith(action: FaultAction, match: FaultMatch): Transport {
  simulation = simulate({ profile: 'sn740', faults: { rules: [{ match, action }] } })
  return simulation.transport
}

/** Diagnostic for disabling a controller that does not become ready, which is the only way out. */
const GIVEN_UP = 'host cleared CC.EN before CSTS.RDY became 1'

afterEach(() => {
  expect(simulation.diagnostics.filter(({ text }) => text !== GIVEN_UP)).toEqual([])
})

describe('a controller whose CSTS.RDY does not follow CC.EN', () => {
  test.each([
    ['to 0', 'ready-never-falls'],
    ['to 1', 'ready-never-rises'],
  ] as const)('%s is opened after a reset of its function', async (_, kind) => {
    const transport = transportWith({ kind }, { fromNs: SECOND_NS, times: 1 })
    // As left enabled by a previous process.
    await Controller.open({ ...transport, bar: new CutBar(transport.bar) })
    while (transport.clock.now() < SECOND_NS) await transport.clock.idle(SECOND_NS)
    const events = watchEvents()
    await using ctrl = await Controller.open(transport)
    await ctrl.namespace(1).readBytes(0, 512)
    expect(events).toMatchObject([
      { kind: 'recovery', step: 'function-reset', result: 'begun' },
      { kind: 'recovery', step: 'function-reset', result: 'succeeded' },
    ])
  })

  test('is an error if the function cannot be reset', async () => {
    const transport = transportWith({ kind: 'ready-never-rises' }, {})
    const others = Object.entries(transport).filter(([name]) => name !== 'reset')
    const without = Object.fromEntries(others) as unknown as Transport
    const error = await Controller.open(without).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_NOT_READY' })
    expect((error as Error).message).toContain('reset the function or power-cycle')
  })

  test('is an error that mentions the reset if one did not help', async () => {
    const transport = transportWith({ kind: 'ready-never-rises' }, {})
    const dma = countedAllocator(transport.dma)
    let resets = 0
    const reset = (kind: 'function' | 'bus') => {
      resets++
      return transport.reset!(kind)
    }
    const error = await Controller.open({ ...transport, dma, reset }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'ERR_GPUNVME_NOT_READY' })
    expect((error as Error).message).toContain('a reset of the function did not help')
    expect(resets).toBe(1)
    expect(dma.bytesInUse).toBe(0)
  })
})

test.each([
  ['2.3 s for those with this quirk in Linux', 0xa821, 2.3, 2.6],
  ['none for others', 0xa801, 0, 0.3],
])('the time before CSTS is read after CC.EN = 0: %s', async (_, deviceId, fromSeconds, toSeconds) => {
  simulation = simulate({ profile: 'sn740' })
  const { transport } = simulation
  const ids: Readonly<Record<number, number>> = { 0: 0x144d, 2: deviceId }
  const { config, clock, bar } = transport
  const identified = {
    read: (offset: number, widthBytes: 1 | 2 | 4) => ids[offset] ?? config!.read(offset, widthBytes),
    write: () => undefined,
  }
  await Controller.open(transport)
  // Times at which CC.EN was cleared, and at which CSTS was read next.
  const moments: number[] = []
  const watched = {
    lengthBytes: bar.lengthBytes,
    read32(offset: number) {
      if (offset === 0x1c && moments.length === 1) moments.push(clock.now())
      return bar.read32(offset)
    },
    read64: (offset: number) => bar.read64(offset),
    write32(offset: number, value: number) {
      if (offset === 0x14 && moments.length === 0) moments.push(clock.now())
      bar.write32(offset, value)
    },
    write64: (offset: number, value: bigint) => bar.write64(offset, value),
  }
  const ctrl = await Controller.open({ ...transport, bar: watched, config: identified })
  const [cleared, looked] = moments
  expect((looked! - cleared!) / SECOND_NS).toBeGreaterThanOrEqual(fromSeconds)
  expect((looked! - cleared!) / SECOND_NS).toBeLessThan(toSeconds)
  await ctrl.close()
})
