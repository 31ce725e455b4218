import type { Assertion, RunFailure } from './failure.js'
import { runTwice, type RunOptions } from './run.js'
import type { Scenario } from './scenario.js'

/** Runs are short, but not free. */
const MOST_RUNS = 3000

export interface Minimised {
  readonly scenario: Scenario
  readonly failure: RunFailure
  /** How often it was run on the way. */
  readonly runs: number
}

/**
 * Cuts a failing scenario down while the same assertion fails: fault rules and steps go, as many at a time as can, and
 * then what else is not needed. Undefined where the scenario does not fail.
 */
export async function minimise(scenario: Scenario, options: RunOptions = {}): Promise<Minimised | undefined> {
  const { failure } = await runTwice(scenario, options)
  if (failure === undefined) return undefined
  const search = new Search(failure.assertion, options)
  let smallest = scenario
  let failed = failure
  const keep = async (candidate: Scenario) => {
    const found = await search.failureOf(candidate)
    if (found === undefined) return false
    smallest = candidate
    failed = found
    return true
  }
  for (let size = Infinity; sizeOf(smallest) < size && search.runs < MOST_RUNS;) {
    size = sizeOf(smallest)
    await dropParts(smallest.faults.rules, (rules) => keep({ ...smallest, faults: { rules } }))
    await dropParts(smallest.steps, (steps) => keep({ ...smallest, steps }))
    if (smallest.fragmented) await keep({ ...smallest, fragmented: false })
    if (smallest.profile !== 'ideal') await keep({ ...smallest, profile: 'ideal' })
    const used = smallest.steps.map((step) => ('qid' in step ? step.qid : 0))
    const sqs = smallest.sqs.filter(({ qid }) => used.includes(qid))
    if (sqs.length < smallest.sqs.length) await keep({ ...smallest, sqs })
    const cqs = smallest.cqs.filter(({ qid }) => smallest.sqs.some(({ cqid }) => cqid === qid))
    if (cqs.length < smallest.cqs.length) await keep({ ...smallest, cqs })
  }
  return { scenario: smallest, failure: failed, runs: search.runs }
}

/** Looks for the one assertion, and counts what that costs. */
class Search {
  runs = 0
  private readonly assertion: Assertion
  private readonly options: RunOptions

  constructor(assertion: Assertion, options: RunOptions) {
    this.assertion = assertion
    this.options = options
  }

  async failureOf(scenario: Scenario): Promise<RunFailure | undefined> {
    if (this.runs++ > MOST_RUNS) return undefined
    const { failure } = await runTwice(scenario, this.options)
    return failure?.assertion === this.assertion ? failure : undefined
  }
}

/** Leaves out halves, then quarters, and so on down to single parts, as long as `stillFails` without them. */
async function dropParts<T>(parts: readonly T[], stillFails: (left: readonly T[]) => Promise<boolean>): Promise<void> {
  let left = parts
  for (let chunk = Math.ceil(left.length / 2); chunk >= 1; chunk = chunk === 1 ? 0 : Math.ceil(chunk / 2)) {
    for (let at = left.length - chunk; at > -chunk && left.length > 0; at -= chunk) {
      const without = [...left.slice(0, Math.max(0, at)), ...left.slice(Math.max(0, at + chunk))]
      if (await stillFails(without)) left = without
    }
  }
}

function sizeOf({ steps, faults, sqs, cqs }: Scenario): number {
  return steps.length + faults.rules.length + sqs.length + cqs.length
}
