import { simulate } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { collect } from '../../conformance/cases/support.js'
import { Controller } from '../../src/controller.js'

const MS = 1_000_000

test('a recovery for a command outside plans waits for commands in flight, not for whole plans', async () => {
  const simulation = simulate({
    profile: 'ideal',
    namespaces: [{ capacityBytes: 16 * 1024 * 1024 }],
    faults: {
      rules: [
        { match: { opcode: 0, qid: 2, nth: 1 }, action: { kind: 'hang' } },
        // Each read takes 10 ms.
        {
          match: { opcode: 2, qid: 1, nth: 1, every: 1, times: 10_000 },
          action: { kind: 'delay-completion', delayNs: 10 * MS },
        },
      ],
    },
  })
  const ctrl = await Controller.open(simulation.transport, {
    write: { serial: simulation.serial },
    queueDepth: 1,
    maxTransferBytes: 4096,
    commandTimeoutNs: 50 * MS,
  })
  const seen = collect(ctrl.events())
  const ns = ctrl.namespace(1)
  const plan = ns.planReads([{ slba: 0, blocks: 4000, offsetBytes: 0 }])
  await Promise.all([ns.execute(plan, ns.dma.alloc(4000 * 512)), ns.flush()])
  await ctrl.close()
  const begun = (await seen).find((event) => event.kind === 'recovery')
  // The flush times out at 50 ms, and each read has 50 ms.
  expect(begun!.timeNs / MS).toBeLessThan(150)
})
