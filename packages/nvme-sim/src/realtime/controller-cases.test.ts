import type { Transport } from '@gpunvme/nvme-spec/transport'
import { startRealTimeSimulator, type RealTimeSimulator } from '@gpunvme/nvme-sim/realtime'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { controllerCases, runControllerCase } from '../conformance/index.js'

/** Cases that cannot be run here: id and reason. */
const skips: Readonly<Record<string, string>> = {}

const MIB = 1024 * 1024

describe('the controller cases on the real-time simulator', () => {
  const skipped: Record<string, string> = {}
  let simulator: RealTimeSimulator
  beforeAll(async () => {
    const memory = new SharedArrayBuffer(64 * MIB)
    simulator = await startRealTimeSimulator({ memory, namespaces: [{ capacityBytes: 32 * MIB }] })
  })
  afterAll(() => simulator.close())

  /** The same thread for all of them: a function reset makes its controller as after power on. */
  const open = async (): Promise<Transport> => {
    await simulator.transport.reset!('function')
    return { ...simulator.transport, close: () => Promise.resolve() }
  }

  for (const each of controllerCases) {
    it(`${each.id}: ${each.title} (${each.spec})`, async ({ skip }) => {
      const result = await runControllerCase(each, open)
      if (result.outcome === 'skipped') {
        skipped[each.id] = result.reason
        skip(result.reason)
      }
      if (result.outcome === 'failed') throw result.error
    })
  }

  it('skips the cases that are listed, for the reasons that are listed', () => {
    expect(skipped).toEqual(skips)
  })
})
