import { expect, it } from 'vitest'
import { formatMinimised, makeScenario, minimise, runDriverCampaign, hostDriver as driver } from '../../dst/index.js'
import { KINDS } from '../../dst/random-faults.js'

const SEEDS = 200

it(
  `${SEEDS} seeds: the driver passes with every kind of fault, alone and in combinations of two and three`,
  { timeout: 120_000 },
  async () => {
    const result = await runDriverCampaign(driver, { seeds: SEEDS })
    const [worst] = result.failures
    const found = worst && (await minimise(makeScenario(worst.seed), driver))
    expect(found ? await formatMinimised(found, driver) : worst?.failure.message).toBeUndefined()
    // A campaign without commands or faults would pass too.
    expect(result.commands).toBeGreaterThan(10 * SEEDS)
    expect(Object.keys(result.injected)).toEqual([...KINDS].sort())
    expect(Object.keys(result.done)).toEqual(
      expect.arrayContaining(
        [
          ['copy', 'writeZeroes', 'deallocate', 'compare', 'verify', 'reset', 'loss of power'],
          ['scattered memory', 'shadowDoorbells', 'interrupts', 'metadata refused'],
          ['format', 'create', 'attach', 'detach', 'delete'],
        ].flat(),
      ),
    )
    expect(result.lost).toBeGreaterThan(0)
    // Each kind of fault occurred alone, and the longest operation then stayed within its time limit.
    expect(Object.keys(result.worst)).toEqual(
      expect.arrayContaining([...KINDS, 'none'].filter((kind) => kind !== 'attach-namespace')),
    )
    for (const { share } of Object.values(result.worst)) expect(share).toBeLessThanOrEqual(1)
  },
)
