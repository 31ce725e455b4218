import { formatFaultPlan } from '@gpunvme/nvme-spec/faults'
import { textTrace } from '@gpunvme/nvme-spec/trace'
import type { DriverCampaignResult } from './campaign.js'
import { uncoveredFeatures } from './make-scenario.js'
import { runScenario } from './run.js'
import type { Scenario } from './scenario.js'
import { formatCampaign, type Shrunk } from '@gpunvme/nvme-sim/dst'
import type { DriverUnderTest } from '../conformance/driver.js'

/** Formats the result of a campaign. */
export function formatDriverCampaign(result: DriverCampaignResult): string {
  const lost = `${result.lost} controllers declared lost`
  const skipped =
    result.skipped > 0 ? [`${result.skipped} seeds skipped: the driver does not support their options`] : []
  return [formatCampaign(result, uncoveredFeatures), lost, ...skipped, formatWorst(result)].join('\n')
}

/** Formats the longest durations of a campaign as a table. */
function formatWorst({ worst }: DriverCampaignResult): string {
  const ms = (ns: number) => (ns / 1e6).toFixed(1).padStart(10)
  return [
    'worst cases of scenarios with one kind of fault (virtual ms):',
    `  ${'kind'.padEnd(22)} ${'call'.padStart(10)} ${'step'.padStart(10)}  share of the call's limit`,
    ...Object.entries(worst).map(
      ([kind, { callNs, stepNs, share }]) =>
        `  ${kind.padEnd(22)} ${ms(callNs)} ${ms(stepNs)}  ${(100 * share).toFixed(0)} %`,
    ),
  ].join('\n')
}

/** Formats a minimised failing scenario: the failure, the controller, the faults, the steps and the trace. */
export async function formatMinimised(found: Shrunk<Scenario>, driver: DriverUnderTest): Promise<string> {
  const { scenario, failure, runs } = found
  const { steps, inside, boundary, ...shape } = scenario
  return [
    `seed ${scenario.seed}: ${failure.message}`,
    `minimised to ${steps.length} steps and ${inside.rules.length + boundary.rules.length} fault rules in ${runs} runs`,
    JSON.stringify(shape),
    `inside ${formatFaultPlan(inside).trimEnd()}`,
    `boundary ${formatFaultPlan(boundary).trimEnd()}`,
    ...steps.map((step) => `  ${JSON.stringify(step)}`),
    await traceOf(scenario, driver),
  ].join('\n')
}

/** Runs a scenario and returns its trace as text. */
export async function traceOf(scenario: Scenario, driver: DriverUnderTest): Promise<string> {
  let text = ''
  await runScenario(scenario, driver, { trace: textTrace((line) => (text += line)) })
  return text.trimEnd()
}
