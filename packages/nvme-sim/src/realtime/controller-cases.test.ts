import type { Transport } from '@gpunvme/nvme-spec/transport'
import { startRealTimeSimulator, type RealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controllerCases, runControllerCase } from '../../conformance/index.js'
import { simulate } from '../index.js'

const MIB = 1024 * 1024
const namespaces = [{ capacityBytes: 32 * MIB }]

/** A time limit that no command exceeds, even on a busy machine. */
const options = { commandLimitNs: 20e9, timeRuns: true }

describe('the controller cases on the real-time simulator', () => {
  let simulator: RealTimeSimulator
  beforeAll(async () => {
    simulator = await startRealTimeSimulator({ memory: new SharedArrayBuffer(64 * MIB), namespaces })
  })
  afterAll(() => simulator.close())

  /** Uses one thread for all cases; a function reset restores the power-on state of its controller. */
  const open = async (): Promise<Transport> => {
    await simulator.transport.reset!('function')
    return { ...simulator.transport, close: () => Promise.resolve() }
  }

  for (const each of controllerCases) {
    it(`${each.id}: ${each.title} (${each.spec})`, async ({ skip }) => {
      const result = await runControllerCase(each, open, options)
      if (result.outcome === 'skipped') {
        // The thread must not be the reason: the simulator in this thread must skip the case too.
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
