import { expect, it } from 'vitest'
import { hostDriver as driver, runScenario, type Scenario } from '../../dst/index.js'

// Defects of the driver that the campaign found, as their shortest runs.

const MS = 1_000_000

const watchedReset: Scenario = {
  seed: 1,
  controller: {
    profile: 'ideal',
    maxEntries: 3,
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

it('resets a controller that works within restartNs, with interrupts and while events are iterated over', async () => {
  expect((await runScenario(watchedReset, driver)).failure?.message).toBeUndefined()
})
