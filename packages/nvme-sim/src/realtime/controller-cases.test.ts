import type { Transport } from '@gpunvme/nvme-spec/transport'
import { startRealTimeSimulator, type RealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controllerCases, runControllerCase } from '../conformance/index.js'
import { simulate } from '../index.js'

/** Cases that are not for real time: id and reason. */
const notHere: Readonly<Record<string, string>> = {
  'round-robin-starves-no-queue':
    'it rings twice before anything is fetched, and how far a thread of its own has come between is up to the machine',
  'shadow-doorbells-while-busy':
    'a known fault of the simulator: a shadow doorbell that moves on while its doorbell is rung may be missed by the thread, or taken back',
}

const MIB = 1024 * 1024
const namespaces = [{ capacityBytes: 32 * MIB }]

/** No command takes that long, on however busy a machine. */
const limits = { commandLimitNs: 20e9 }

describe('the controller cases on the real-time simulator', () => {
  let simulator: RealTimeSimulator
  beforeAll(async () => {
    simulator = await startRealTimeSimulator({ memory: new SharedArrayBuffer(64 * MIB), namespaces })
  })
  afterAll(() => simulator.close())

  /** The same thread for all of them: a function reset makes its controller as after power on. */
  const open = async (): Promise<Transport> => {
    await simulator.transport.reset!('function')
    return { ...simulator.transport, close: () => Promise.resolve() }
  }

  for (const each of controllerCases) {
    it(`${each.id}: ${each.title} (${each.spec})`, async ({ skip }) => {
      if (notHere[each.id] !== undefined) skip(notHere[each.id])
      const result = await runControllerCase(each, open, limits)
      if (result.outcome === 'skipped') {
        // Real time is no reason: the same controller in virtual time skips it too.
        const virtual = await runControllerCase(each, () => Promise.resolve(simulate({ namespaces }).transport))
        expect(result).toEqual(virtual)
        skip(result.reason)
      }
      if (result.outcome === 'failed') throw result.error
    })
  }

  it('has every case that is listed as not for real time', () => {
    const ids = controllerCases.map(({ id }) => id)
    expect(Object.keys(notHere).filter((id) => !ids.includes(id))).toEqual([])
  })
})
