import { simulate } from '@gpunvme/nvme-sim'
import { expect, it } from 'vitest'
import { hostDriver as driver, runScenario, type Scenario } from '../../dst/index.js'
import { Controller } from '../../src/index.js'

// Known defects of the driver. A test that passes fails the run: the defect is fixed, and its constant in
// `dst/known.ts` is to be removed, so that the campaign draws it again.

const MS = 1_000_000

const watchedReset: Scenario = {
  seed: 1,
  controller: {
    profile: 'ideal',
    mostEntries: 3,
    dstrd: 0,
    mpsmin: 1,
    mdts: 5,
    ioQueuePairs: 16,
    fragmented: false,
  },
  namespaces: [
    { nsid: 1, blockBytes: 4096, blocks: 187 },
    { nsid: 6, blockBytes: 512, blocks: 64 },
  ],
  manages: true,
  options: {
    queues: 2,
    queueDepth: 16,
    interrupts: true,
    maxTransferBytes: 4096,
    readyTimeoutNs: 60 * MS,
    commandTimeoutNs: 100 * MS,
    recovery: { abortNs: 100 * MS, queuesNs: 200 * MS, restartNs: 100 * MS },
  },
  timeoutNs: 50 * MS,
  inside: { rules: [] },
  boundary: { rules: [] },
  watches: true,
  steps: [{ do: 'reset' }],
}

it.fails(
  'resets a controller that works within restartNs, with interrupts and while events are iterated over',
  async () => {
    expect((await runScenario(watchedReset, driver)).failure?.message).toBeUndefined()
  },
)

it.fails('rejects format of a namespace that another host has detached with an error of its own', async () => {
  // It is detached between the list of active namespaces and its Identify data, which are all zeros then.
  const rule = { match: { qid: 0, opcode: 6, nsid: 1 }, action: { kind: 'detach-namespace', nsid: 1 } } as const
  const { transport, serial } = simulate({ namespaces: [{ capacityBytes: 64 * 4096 }], faults: { rules: [rule] } })
  const ctrl = await Controller.open(transport, { write: { serial }, manage: true })
  expect(ctrl.namespace(1).blocks).toBe(0)
  await expect(ctrl.management.format(1, { lbaFormat: 0 })).rejects.toHaveProperty('code')
})
