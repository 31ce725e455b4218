import { shrink, dropParts, type Shrunk, type Accept } from './shrink.js'
import { runTwice, type RunOptions } from './run.js'
import type { Scenario } from './scenario.js'

/** A minimised failing scenario of this campaign. */
export type Minimised = Shrunk<Scenario>

/**
 * Minimises a failing scenario while the same assertion fails: removes fault rules and steps, in large groups first,
 * then other parts. Returns undefined if the scenario does not fail.
 */
export function minimise(scenario: Scenario, options: RunOptions = {}): Promise<Minimised | undefined> {
  const failureOf = async (candidate: Scenario) => (await runTwice(candidate, options)).failure
  return shrink(scenario, { failureOf, sizeOf, removeParts: cut })
}

async function cut(smallest: () => Scenario, keep: Accept<Scenario>): Promise<void> {
  await dropParts(smallest().faults.rules, (rules) => keep({ ...smallest(), faults: { rules } }))
  await dropParts(smallest().steps, (steps) => keep({ ...smallest(), steps }))
  for (const option of ['shadow', 'interrupts', 'arbitration', 'cacheOff'] as const) {
    const { [option]: dropped, ...rest } = smallest()
    if (dropped !== undefined) await keep(rest)
  }
  if (smallest().fragmented) await keep({ ...smallest(), fragmented: false })
  if (smallest().profile !== 'ideal') await keep({ ...smallest(), profile: 'ideal' })
  const used = smallest().steps.map((step) => ('qid' in step ? step.qid : 0))
  const sqs = smallest().sqs.filter(({ qid }) => used.includes(qid))
  if (sqs.length < smallest().sqs.length) await keep({ ...smallest(), sqs })
  const cqs = smallest().cqs.filter(({ qid }) => smallest().sqs.some(({ cqid }) => cqid === qid))
  if (cqs.length < smallest().cqs.length) await keep({ ...smallest(), cqs })
}

function sizeOf({ steps, faults, sqs, cqs }: Scenario): number {
  return steps.length + faults.rules.length + sqs.length + cqs.length
}
