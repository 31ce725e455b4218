import type { Transport } from '@gpunvme/nvme-spec/transport'
import { startRealTimeSimulator, type RealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controllerCases, runControllerCase } from '../../conformance/index.js'
import { simulate } from '../index.js'

const MIB = 1024 * 1024
const namespaces = [{ capacityBytes: 32 * MIB }]

/** No command takes that long, on however busy a machine. */
const options = { commandLimitNs: 20e9, timeRuns: true }

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
      const result = await runControllerCase(each, open, options)
      if (result.outcome === 'skipped') {
        // The thread is no reason: the same controller in this one skips it too.
        const virtual = await runControllerCase(
          each,
          () => Promise.resolve(simulate({ namespaces }).transport),
          options,
        )
        expect(result).toEqual(virtual)
        skip(result.reason)
      }
      if (result.outcome === 'failed') throw result.error
    })
  }
})
