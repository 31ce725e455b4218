import { expect, test } from 'vitest'
import { FaultPlanError } from '../../packages/nvme-spec/src/faults/index.js'
import { endingOf, fuzzer } from './fuzz.js'
import { Dice, mutate } from './mutator.js'

test('creates equal inputs for equal seeds, and different inputs for different seeds', () => {
  const input = Buffer.from('{"layers":[1,2,3],"name":"a model"}')
  const made = (seed: number) => mutate(input, new Dice(seed, 'test'), 'json').toString('latin1')
  const seeds = Array.from({ length: 200 }, (_, seed) => seed)
  expect(seeds.map(made)).toEqual(seeds.map(made))
  expect(new Set(seeds.map(made)).size).toBeGreaterThan(150)
})

test('does not change the input itself', () => {
  const input = Buffer.alloc(64, 7)
  for (let seed = 0; seed < 100; seed++) mutate(input, new Dice(seed, 'test'))
  expect(input.equals(Buffer.alloc(64, 7))).toBe(true)
})

test('counts typed errors as endings, and reports each other error once, with its first seed', async () => {
  const { run } = fuzzer('test', (dice) =>
    endingOf(() => {
      if (dice.chance(0.3)) throw new FaultPlanError('no', {})
      if (dice.chance(0.3)) throw new RangeError('Maximum call stack size exceeded')
    }),
  )
  const { cases, endings, failures } = await run({ seed: 1, seeds: 100 })
  expect(cases).toBe(100)
  expect(Object.keys(endings).sort()).toEqual(['ERR_GPUNVME_FAULT_PLAN', 'accepted'])
  expect(failures).toHaveLength(1)
  const [failure] = failures
  expect(failure!.problem).toContain('RangeError: Maximum call stack size exceeded')
  const again = await run({ seed: failure!.seed, seeds: 1 })
  expect(again.failures).toMatchObject([{ seed: failure!.seed, cases: 1 }])
})
