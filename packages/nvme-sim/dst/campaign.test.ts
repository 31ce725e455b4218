import { expect, it } from 'vitest'
import { runCampaign } from './campaign.js'
import { formatMinimised } from './report.js'
import { makeScenario } from './make-scenario.js'
import { minimise } from './minimise.js'

const SEEDS = 200

it(`finds no defect in ${SEEDS} random scenarios`, { timeout: 120_000 }, async () => {
  const result = await runCampaign({ seeds: SEEDS })
  const [worst] = result.failures
  const found = worst && (await minimise(makeScenario(worst.seed)))
  expect(found && (await formatMinimised(found))).toBeUndefined()
  // A campaign that sends no commands, or whose faults never occur, would pass as well.
  expect(result.commands).toBeGreaterThan(40 * SEEDS)
  expect(Object.keys(result.done)).toEqual(
    expect.arrayContaining(
      [
        ['read', 'write', 'compare', 'copy', 'deallocate', 'write-zeroes', 'write-uncorrectable', 'verify', 'flush'],
        ['SGL', 'metadata', 'FUA', 'fused', 'shadow doorbells', 'interrupts', 'weighted round robin', 'loss of power'],
        ['format', 'create namespace', 'attach namespace', 'detach namespace', 'delete namespace'],
      ].flat(),
    ),
  )
  const kinds = Object.keys(result.injected)
  expect(kinds).toEqual(
    expect.arrayContaining(
      [
        ['drop-completion', 'hang', 'delay-completion', 'duplicate-completion', 'reorder-completion', 'status'],
        ['corrupt-cid', 'corrupt-sqhd', 'corrupt-sqid', 'corrupt-phase', 'corrupt-data', 'torn-dma', 'wrong-page'],
        ['lose-write', 'delay-write', 'read-value', 'ready-never-rises', 'ready-never-falls'],
        ['fatal-status', 'remove-device', 'surprise-reset', 'throttle'],
        ['detach-namespace', 'attach-namespace', 'resize-namespace', 'stale-completion', 'async-event'],
      ].flat(),
    ),
  )
})
