import { runScenario, runTwice } from './run.js'
import type { Scenario } from './scenario.js'
import { shrink, dropParts, type Shrunk, type Accept } from '@gpunvme/nvme-sim/dst'
import type { DriverUnderTest } from '../conformance/driver.js'

/** Returns a smaller scenario that fails with the same assertion; undefined if `scenario` does not fail. */
export async function minimise(scenario: Scenario, driver: DriverUnderTest): Promise<Shrunk<Scenario> | undefined> {
  const { failure } = await runTwice(scenario, driver)
  const run = failure?.assertion === 'replay' ? runTwice : runScenario
  const failureOf = async (candidate: Scenario) => (await run(candidate, driver)).failure
  return shrink(scenario, { failureOf, sizeOf, removeParts: cut })
}

async function cut(smallest: () => Scenario, keep: Accept<Scenario>): Promise<void> {
  await dropParts(smallest().inside.rules, (rules) => keep({ ...smallest(), inside: { rules } }))
  await dropParts(smallest().boundary.rules, (rules) => keep({ ...smallest(), boundary: { rules } }))
  await dropParts(smallest().steps, (steps) => keep({ ...smallest(), steps }))
  const { controller, watches, namespaces, options } = smallest()
  if (watches) await keep({ ...smallest(), watches: false })
  if (controller.fragmented) await keep({ ...smallest(), controller: { ...controller, fragmented: false } })
  if (controller.profile !== 'ideal') await keep({ ...smallest(), controller: { ...controller, profile: 'ideal' } })
  const used = smallest().steps.map((step) => ('nsid' in step ? step.nsid : 0))
  const left = namespaces.filter(({ nsid }, index) => index === 0 || used.includes(nsid))
  if (left.length < namespaces.length) await keep({ ...smallest(), namespaces: left })
  const { withMetadata, ...without } = smallest()
  if (withMetadata !== undefined) await keep(without)
  for (const option of ['sgl', 'shadowDoorbells', 'interrupts', 'completionQueues', 'queueEntries'] as const) {
    const { [option]: dropped, ...rest } = smallest().options
    if (dropped !== undefined) await keep({ ...smallest(), options: rest })
  }
  if (options.queues > 1) await keep({ ...smallest(), options: { ...options, queues: options.queues - 1 } })
}

function sizeOf({ steps, inside, boundary, namespaces, options }: Scenario): number {
  return steps.length + inside.rules.length + boundary.rules.length + namespaces.length + options.queues
}
