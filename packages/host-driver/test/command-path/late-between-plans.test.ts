import { simulate } from '@gpunvme/nvme-sim'
import { expect, test } from 'vitest'
import { Controller } from '../../src/controller.js'

const MS = 1_000_000

test('a write whose completion arrives during another plan is not unknown', async () => {
  const simulation = simulate({
    profile: 'ideal',
    namespaces: [{ capacityBytes: 1024 * 1024 }],
    faults: {
      rules: [
        { match: { qid: 1, opcode: 1, nth: 2 }, action: { kind: 'delay-completion', delayNs: 60 * MS } },
        { match: { qid: 1, opcode: 1, nth: 3 }, action: { kind: 'delay-completion', delayNs: 100 * MS } },
      ],
    },
  })
  const ctrl = await Controller.open(simulation.transport, { write: { serial: simulation.serial } })
  const ns = ctrl.namespace(1)
  const memory = ns.dma.alloc(4096)
  await ns.write(0, 8, memory)
  const plan = ns.planWrites([{ slba: 0, blocks: 8, offsetBytes: 0 }])
  const [first, second] = await Promise.all([
    ns.execute(plan, memory, { timeoutNs: 50 * MS }),
    ns.execute(plan, memory, { timeoutNs: 500 * MS }),
  ])
  expect([first.failures, second.failures]).toEqual([[], []])
  await ctrl.close()
})
