import { simulate } from '@gpunvme/nvme-sim'
import { Read } from '@gpunvme/nvme-spec'
import { expect, test } from 'vitest'
import { Controller } from '../../src/controller.js'

const MS = 1_000_000

test('a transport failure during a command outside plans loses the controller, as during a plan', async () => {
  const simulation = simulate({
    profile: 'ideal',
    namespaces: [{ capacityBytes: 1024 * 1024 }],
    faults: {
      rules: [{ match: { opcode: 2, qid: 2 }, action: { kind: 'delay-completion', delayNs: 50 * MS } }],
    },
  })
  const { transport } = simulation
  let failures = 0
  const clock = {
    now: () => transport.clock.now(),
    idle: (untilNs: number) =>
      failures-- > 0 ? Promise.reject(new Error('the bus is gone')) : transport.clock.idle(untilNs),
  }
  const ctrl = await Controller.open({ ...transport, clock }, { write: { serial: simulation.serial }, manage: true })
  const memory = ctrl.management.dma.alloc(4096)
  const values = { NSID: 1, SLBA: 0, NLB: 7 } as never
  failures = 1
  await expect(ctrl.management.submitIo(Read as never, values, { data: { memory } })).rejects.toThrow()
  // The controller may still write to its memory.
  for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate)
  expect(ctrl.statistics.recoveries.lost).toBe(1)
})
