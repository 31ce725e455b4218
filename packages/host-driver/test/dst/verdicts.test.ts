import { expect, it } from 'vitest'
import { runScenario, type Scenario } from '../../dst/src/index.js'
import * as driver from '../../src/index.js'

const MS = 1_000_000

/** Another host makes the namespace smaller, and the answer to the Identify that follows bears a false identifier. */
const unknownSize: Scenario = {
  seed: 59846,
  controller: {
    profile: 'ideal',
    mostEntries: 100,
    dstrd: 0,
    mpsmin: 1,
    mdts: 5,
    ioQueuePairs: 2,
    fragmented: false,
  },
  namespaces: [{ nsid: 3, blockBytes: 512, blocks: 259 }],
  options: {
    queues: 1,
    queueDepth: 2,
    queueEntries: 13,
    maxTransferBytes: 65536,
    readyTimeoutNs: 60 * MS,
    commandTimeoutNs: 100 * MS,
    recovery: { abortNs: 10 * MS, queuesNs: 200 * MS, restartNs: 100 * MS },
  },
  timeoutNs: 20 * MS,
  inside: {
    rules: [
      {
        match: { register: 'CSTS', access: 'read', nth: 11 },
        action: { kind: 'resize-namespace', nsid: 3, blocks: 158 },
      },
      { match: { qid: 0, nth: 16, times: 1 }, action: { kind: 'corrupt-cid', xor: 0xb340 } },
    ],
  },
  boundary: { rules: [] },
  watches: false,
  steps: [],
}

it('gives the driver one command time limit to notice a lost completion before it must write again', async () => {
  const { struck, failure } = await runScenario(unknownSize, driver)
  expect(struck).toEqual({ 'resize-namespace': 1, 'corrupt-cid': 1 })
  expect(failure?.message).toBeUndefined()
})
