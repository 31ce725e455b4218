import { formatFaultPlan } from '@gpunvme/nvme-spec/faults'
import { textTrace } from '@gpunvme/nvme-spec/trace'
import type { DriverCampaignResult } from './campaign.js'
import { notDrawn } from './make-scenario.js'
import { runScenario } from './run.js'
import type { Scenario } from './scenario.js'
import { formatCampaign, type CutDown } from '@gpunvme/nvme-sim/dst'
import type { Driver } from './world.js'

/** What a campaign did, for people. */
export function formatDriverCampaign(result: DriverCampaignResult): string {
  const lost = `${result.lost} controllers declared lost`
  return [formatCampaign(result, notDrawn), lost, formatWorst(result)].join('\n')
}

/** Worst cases of a campaign, as a table. */
export function formatWorst({ worst }: DriverCampaignResult): string {
  const ms = (ns: number) => (ns / 1e6).toFixed(1).padStart(10)
  return [
    'worst cases, where one kind of fault struck alone (virtual ms):',
    `  ${'kind'.padEnd(22)} ${'call'.padStart(10)} ${'step'.padStart(10)}  share of the call's limit`,
    ...Object.entries(worst).map(
      ([kind, { callNs, stepNs, share }]) =>
        `  ${kind.padEnd(22)} ${ms(callNs)} ${ms(stepNs)}  ${(100 * share).toFixed(0)} %`,
    ),
  ].join('\n')
}

/** A failing run, cut down: what failed, on what, and all that happened, as text. */
export async function formatMinimised(found: CutDown<Scenario>, driver: Driver): Promise<string> {
  const { scenario, failure, runs } = found
  const { steps, inside, boundary, ...shape } = scenario
  return [
    `seed ${scenario.seed}: ${failure.message}`,
    `cut down to ${steps.length} steps and ${inside.rules.length + boundary.rules.length} fault rules in ${runs} runs`,
    JSON.stringify(shape),
    `inside ${formatFaultPlan(inside).trimEnd()}`,
    `boundary ${formatFaultPlan(boundary).trimEnd()}`,
    ...steps.map((step) => `  ${JSON.stringify(step)}`),
    await traceOf(scenario, driver),
  ].join('\n')
}

/** Everything that happens in a run, as text. */
export async function traceOf(scenario: Scenario, driver: Driver): Promise<string> {
  let text = ''
  await runScenario(scenario, driver, { trace: textTrace((line) => (text += line)) })
  return text.trimEnd()
}
