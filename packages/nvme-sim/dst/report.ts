import { formatFaultPlan } from '@gpunvme/nvme-spec/faults'
import { textTrace } from '@gpunvme/nvme-spec/trace'
import type { CampaignResult } from './campaign.js'
import type { Minimised } from './minimise.js'
import { runScenario, type RunOptions } from './run.js'
import type { Scenario } from './scenario.js'

const NS_PER_HOUR = 3600e9

/** Formats the result of a campaign. @param uncovered features that no scenario covers. */
export function formatCampaign(result: CampaignResult, uncovered: readonly string[]): string {
  const { firstSeed, runs, commands, completions, done, injected, virtualNs, hash, failures } = result
  const kinds = Object.entries(injected).map(([kind, times]) => `  ${kind.padEnd(22)} ${times}`)
  return [
    `seeds ${firstSeed} to ${firstSeed + runs - 1}, every eighth run twice: ${failures.length} failed`,
    `${commands} commands, ${completions} completions, ${(virtualNs / NS_PER_HOUR).toFixed(2)} virtual hours (each seed once)`,
    `operations that succeeded: ${Object.entries(done)
      .map(([name, times]) => `${name} ${times}`)
      .join(', ')}`,
    'faults that occurred:',
    ...kinds,
    `not covered: ${uncovered.join(', ')}`,
    `campaign hash ${hash}`,
  ].join('\n')
}

/** Formats a minimised failing scenario: the failure, the fault plan, the steps and the trace. */
export async function formatMinimised(found: Minimised, options: RunOptions = {}): Promise<string> {
  const { scenario, failure, runs } = found
  return [
    `seed ${scenario.seed}: ${failure.message}`,
    `minimised to ${scenario.steps.length} steps and ${scenario.faults.rules.length} fault rules in ${runs} runs`,
    formatFaultPlan(scenario.faults).trimEnd(),
    ...scenario.steps.map((step) => `  ${JSON.stringify(step)}`),
    await traceOf(scenario, options),
  ].join('\n')
}

/** Runs a scenario and returns its trace as text. */
export async function traceOf(scenario: Scenario, options: RunOptions = {}): Promise<string> {
  let text = ''
  await runScenario(scenario, { ...options, trace: textTrace((line) => (text += line)) })
  return text.trimEnd()
}
