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

/** Delays the completion of the first command after bring-up (two Admin commands, one CQ, one SQ), not its data. */
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

/** Duplicates the last completion of the run, in the second bring-up; it waits for room in a CQ of two entries. */
const lastDuplicated: Scenario = {
  ...base,
  adminEntries: 2,
  faults: { rules: [{ match: { qid: 0, nth: 8 }, action: { kind: 'duplicate-completion' } }] },
}

/** Loses the last doorbell write of bring-up (two Admin commands, one CQ, one SQ), so that the Admin CQ stays full. */
const lostRelease: Scenario = {
  ...base,
  adminEntries: 2,
  faults: { rules: [{ match: { register: 'CQyHDBL', nth: 4 }, action: { kind: 'lose-write' } }] },
  steps: [{ do: 'recreate', cqid: 1 }],
}

/** Delays the last doorbell write of bring-up, behind which the write of NSSR waits. */
const stalledReset: Scenario = {
  ...base,
  profile: 'ideal',
  faults: {
    rules: [{ match: { register: 'CQyHDBL', nth: 4 }, action: { kind: 'delay-write', delayNs: 500_000_000 } }],
  },
  steps: [{ do: 'reset', how: 'subsystem' }],
}

it('accepts data that arrived before a shutdown aborted its command (Base 2.1 §3.6.1)', async () => {
  const { injected, failure } = await runScenario(heldBack)
  expect(injected).toEqual({ 'reorder-completion': 1 })
  expect(failure?.message).toBeUndefined()
})

it('accepts a duplicate completion after the last command of a run', async () => {
  const { injected, failure } = await runScenario(lastDuplicated)
  expect(injected).toEqual({ 'duplicate-completion': 1 })
  expect(failure?.message).toBeUndefined()
})

it('expects no completion while the Admin CQ has no free slot after a lost doorbell write (Base 2.2 §3.3.1.2.1)', async () => {
  const { injected, failure } = await runScenario(lostRelease)
  expect(injected).toEqual({ 'lose-write': 1 })
  expect(failure?.message).toBeUndefined()
})

it('accepts CSTS.RDY = 1 while the write of NSSR waits behind a delayed doorbell write', async () => {
  const { injected, failure } = await runScenario(stalledReset)
  expect(injected).toEqual({ 'delay-write': 1 })
  expect(failure?.message).toBeUndefined()
})
