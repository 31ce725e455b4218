import { expect, it } from 'vitest'
import { runCampaign } from './campaign.js'
import { formatMinimised } from './report.js'
import { makeScenario } from './make-scenario.js'
import { minimise } from './minimise.js'

const SEEDS = 200

it(`${SEEDS} random hosts on random controllers under random faults`, { timeout: 120_000 }, async () => {
  const result = await runCampaign({ seeds: SEEDS })
  const [worst] = result.failures
  const found = worst && (await minimise(makeScenario(worst.seed)))
  expect(found && (await formatMinimised(found))).toBeUndefined()
  // A campaign that sends nothing, or whose faults never happen, would pass as well.
  expect(result.commands).toBeGreaterThan(40 * SEEDS)
  const kinds = Object.keys(result.struck)
  expect(kinds).toEqual(
    expect.arrayContaining(
      [
        ['drop-completion', 'hang', 'delay-completion', 'duplicate-completion', 'reorder-completion', 'status'],
        ['corrupt-cid', 'corrupt-sqhd', 'corrupt-sqid', 'corrupt-phase', 'corrupt-data', 'torn-dma', 'wrong-page'],
        ['lose-write', 'delay-write', 'read-value', 'ready-never-rises', 'ready-never-falls'],
        ['fatal-status', 'remove-device', 'surprise-reset', 'throttle'],
        ['detach-namespace', 'attach-namespace', 'resize-namespace'],
      ].flat(),
    ),
  )
})
