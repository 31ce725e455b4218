import { simulate } from '@gpunvme/nvme-sim'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller } from '../../src/controller.js'

const MS = 1_000_000

/** Memory of which `forHost` throws for one offset. */
function failing(memory: DmaMemory, badOffset: number): DmaMemory {
  return {
    lengthBytes: memory.lengthBytes,
    view: memory.view!,
    segments: memory.segments,
    iovaAt: (offset) => memory.iovaAt(offset),
    forDevice: (offset, length) => memory.forDevice(offset, length),
    forHost: (offset, length) => {
      if (offset === badOffset) throw new Error('the cache cannot be invalidated')
      memory.forHost(offset, length)
    },
    free: () => memory.free(),
  }
}

test('a late completion whose data cannot be made visible blocks neither a plan nor close', async () => {
  const simulation = simulate({
    profile: 'ideal',
    namespaces: [{ capacityBytes: 1024 * 1024 }],
    faults: {
      rules: [
        // Late, while the third command, which was sent after the second, is still in flight.
        { match: { qid: 1, opcode: 2, nth: 1 }, action: { kind: 'delay-completion', delayNs: 60 * MS } },
        { match: { qid: 1, opcode: 2, nth: 2 }, action: { kind: 'delay-completion', delayNs: 30 * MS } },
        { match: { qid: 1, opcode: 2, nth: 3 }, action: { kind: 'delay-completion', delayNs: 45 * MS } },
      ],
    },
  })
  const ctrl = await Controller.open(simulation.transport, { commandTimeoutNs: 50 * MS, queueDepth: 2 })
  const ns = ctrl.namespace(1)
  const memory = failing(ns.dma.alloc(3 * 4096), 0)
  const outcome = Promise.race([
    ns
      .execute(
        ns.planReads([
          { slba: 0, blocks: 8, offsetBytes: 0 },
          { slba: 8, blocks: 8, offsetBytes: 4096 },
          { slba: 16, blocks: 8, offsetBytes: 8192 },
        ]),
        memory,
      )
      .then(
        () => 'resolved',
        (error: unknown) => `rejected: ${(error as Error).message.split('\n')[0]}`,
      ),
    (async () => {
      for (let turn = 0; turn < 2000; turn++) await new Promise(setImmediate)
      return 'never settled'
    })(),
  ])
  expect(await outcome).not.toBe('never settled')
})
