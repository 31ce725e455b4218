import { simulate } from '@gpunvme/nvme-sim'
import type { DmaMemory } from '@gpunvme/nvme-spec/transport'
import { expect, test } from 'vitest'
import { Controller } from '../../src/controller.js'

const MS = 1_000_000

/** Memory that is freed by its owner after `checks` of its address. */
function freedAfter(memory: DmaMemory, checks: number): DmaMemory {
  let left = checks
  return {
    lengthBytes: memory.lengthBytes,
    view: memory.view!,
    segments: memory.segments,
    iovaAt: (offset) => {
      if (left-- <= 0) throw new TypeError('this memory was freed')
      return memory.iovaAt(offset)
    },
    forDevice: () => undefined,
    forHost: () => undefined,
    free: () => memory.free(),
  }
}

test.each([0, 1, 2, 3, 4])(
  'a Compare whose memory was freed before staging affects no other command (%d)',
  async (checks) => {
    const simulation = simulate({
      profile: 'ideal',
      namespaces: [{ capacityBytes: 1024 * 1024 }],
      // The first Flush takes 1 s.
      faults: {
        rules: [{ match: { opcode: 0, qid: 2, nth: 1 }, action: { kind: 'delay-completion', delayNs: 1000 * MS } }],
      },
    })
    const ctrl = await Controller.open(simulation.transport, { write: { serial: simulation.serial } })
    const ns = ctrl.namespace(1)
    // Limits are read before.
    await ns.compare(0, 1, ns.dma.alloc(512))
    const slow = ns.flush().then(
      () => 'flushed',
      (error: unknown) => (error as Error).message,
    )
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    const compared = await ns
      .compare(0, 8, freedAfter(ns.dma.alloc(4096), checks))
      .catch((e: unknown) => (e as Error).message)
    expect([true, 'this memory was freed']).toContain(compared)
    expect.soft(await slow).toBe('flushed')
    await ns.flush()
    expect(simulation.diagnostics).toEqual([])
    await ctrl.close()
  },
)
