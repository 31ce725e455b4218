import { expect, test } from 'vitest'
import { latenciesOf, percentile } from './latencies.js'

const repeat = (buckets: readonly (readonly [number, number])[], minNs: number, maxNs: number) => ({
  bytes: 1,
  commands: 1,
  seconds: 1,
  latency: { minNs, maxNs, buckets },
})

test('latenciesOf merges all valid repeats', () => {
  const found = latenciesOf([
    repeat([[100, 8], [200, 1]], 80, 190), // oxfmt-ignore
    repeat([[100, 1], [400, 10]], 60, 350), // oxfmt-ignore
    { ...repeat([[1, 1000]], 1, 1), problem: 'the kernel did not execute' },
  ])!
  expect(found).toEqual({
    count: 20,
    minNs: 60,
    maxNs: 350,
    cumulative: [
      [100, 9 / 20],
      [200, 10 / 20],
      [350, 1],
    ],
  })
  expect([0.45, 0.5, 0.51, 0.999, 1].map((share) => percentile(found, share))).toEqual([100, 200, 350, 350, 350])
})

test('latenciesOf is undefined without latencies', () => {
  expect(latenciesOf([{ bytes: 1, commands: 1, seconds: 1 }])).toBeUndefined()
  expect(latenciesOf([repeat([], 0, 0)])).toBeUndefined()
})
