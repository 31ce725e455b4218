import { expect, it } from 'vitest'
import { runScenario } from './run.js'
import type { Scenario } from './scenario.js'

const base: Scenario = {
  seed: 1,
  profile: 'sn740',
  fragmented: false,
  namespaces: [{ nsid: 1, blockBytes: 4096, blocks: 64 }],
  adminEntries: 32,
  cqs: [{ qid: 1, entries: 16 }],
  sqs: [{ qid: 1, entries: 16, cqid: 1 }],
  faults: { rules: [] },
  steps: [],
}

/** The first command after bring-up (two admin commands, one CQ, one SQ) transfers its data; its completion waits. */
const heldBack: Scenario = {
  ...base,
  faults: {
    rules: [
      {
        match: { qid: 0, nth: 5, times: 1 },
        action: { kind: 'reorder-completion', behind: 5, atMostNs: 1_000_000_000 },
      },
    ],
  },
  steps: [
    { do: 'admin', operation: 'identify' },
    { do: 'reset', how: 'shutdown' },
  ],
}

/** The last command of the run, in its second bring-up: its second completion waits for room in a queue of two entries. */
const lastDuplicated: Scenario = {
  ...base,
  adminEntries: 2,
  faults: { rules: [{ match: { qid: 0, nth: 8 }, action: { kind: 'duplicate-completion' } }] },
}

it('accepts data that arrived before a shutdown aborted its command (Base 2.1 §3.6.1)', async () => {
  const { struck, failure } = await runScenario(heldBack)
  expect(struck).toEqual({ 'reorder-completion': 1 })
  expect(failure?.message).toBeUndefined()
})

it('accepts a duplicate completion after the last command of a run', async () => {
  const { struck, failure } = await runScenario(lastDuplicated)
  expect(struck).toEqual({ 'duplicate-completion': 1 })
  expect(failure?.message).toBeUndefined()
})
