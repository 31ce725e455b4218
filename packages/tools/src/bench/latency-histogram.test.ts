import { expect, test } from 'vitest'
import { latenciesOf, percentile } from '../report/latencies.js'
import { LatencyHistogram } from './latency-histogram.js'

test('the edge of a bucket is at most 4.5 % above its values', () => {
  for (const ns of [1, 2, 3, 999, 1000, 77_123, 1_234_567, 5e9]) {
    const histogram = new LatencyHistogram()
    histogram.add(ns)
    const { minNs, maxNs, buckets } = histogram.latency()!
    expect([minNs, maxNs]).toEqual([ns, ns])
    expect(buckets).toHaveLength(1)
    const [[edge, count]] = buckets as [readonly [number, number]]
    expect(count).toBe(1)
    // Edges are rounded to six digits.
    expect(edge).toBeGreaterThanOrEqual(ns * 0.999_99)
    expect(edge).toBeLessThanOrEqual(ns * 1.045)
  }
})

test('percentiles of 1 to 1000 µs are correct to the width of a bucket', () => {
  const histogram = new LatencyHistogram()
  for (let us = 1; us <= 1000; us++) histogram.add(us * 1000)
  const latency = histogram.latency()!
  expect(latency).toMatchObject({ minNs: 1000, maxNs: 1_000_000 })
  const found = latenciesOf([{ bytes: 1, commands: 1, seconds: 1, latency }])!
  expect(found.count).toBe(1000)
  for (const [share, ns] of [
    [0.5, 500_000],
    [0.99, 990_000],
  ] as const) {
    expect(percentile(found, share)).toBeGreaterThanOrEqual(ns)
    expect(percentile(found, share)).toBeLessThanOrEqual(ns * 1.045)
  }
})

test('edges ascend, add counts several values at once, and clear removes all values', () => {
  const histogram = new LatencyHistogram()
  histogram.add(5)
  histogram.clear()
  expect(histogram.latency()).toBeUndefined()
  histogram.add(300, 7)
  histogram.add(20)
  histogram.add(1e15)
  const { buckets, minNs, maxNs } = histogram.latency()!
  expect(buckets.map(([, count]) => count)).toEqual([1, 7, 1])
  expect(buckets.map(([edge]) => edge)).toEqual(buckets.map(([edge]) => edge).toSorted((a, b) => a - b))
  expect([minNs, maxNs]).toEqual([20, 1e15])
})
