import { expect, test } from 'vitest'
import { bytesPerSecond, cpuSecondsPerGigabyte, estimate, ratio } from './statistics.js'

test("estimate uses Student's t: 5 values with standard deviation 1 have a margin of 2.776 / sqrt 5", () => {
  // Of mean 10 and sample variance ((-1)^2 + (-1)^2 + 0 + 1 + 1) / 4 = 1.
  const found = estimate([9, 9, 10, 11, 11])
  expect(found).toMatchObject({ mean: 10, count: 5 })
  expect(found?.marginOfError).toBeCloseTo(1.2415, 3)
})

test('estimate approximates t beyond its table: 2.000 for 60 degrees of freedom, 1.980 for 120', () => {
  const spread = (count: number) => Array.from({ length: count }, (_, index) => (index % 2 === 0 ? 1 : -1))
  const t = (count: number) => {
    const values = spread(count)
    const mean = values.reduce((sum, value) => sum + value, 0) / count
    const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1))
    return estimate(values)!.marginOfError! / (deviation / Math.sqrt(count))
  }
  expect(t(61)).toBeCloseTo(2.0, 2)
  expect(t(121)).toBeCloseTo(1.98, 2)
  expect(t(31)).toBeCloseTo(2.042, 3)
})

test('estimate of one value has no margin, and of none is undefined', () => {
  expect(estimate([7])).toEqual({ mean: 7, marginOfError: undefined, count: 1 })
  expect(estimate([])).toBeUndefined()
})

test('means exclude repeats with problems, and include outliers', () => {
  const repeats = [
    { bytes: 2e9, commands: 1, seconds: 1, cpuSeconds: 1 },
    { bytes: 4e9, commands: 1, seconds: 1, cpuSeconds: 2 },
    { bytes: 1.5e9, commands: 1, seconds: 1, cpuSeconds: 1.5, outlier: 'slow' },
    { bytes: 9e9, commands: 1, seconds: 1, cpuSeconds: 0, problem: 'the kernel did not execute' },
  ]
  expect(bytesPerSecond(repeats)?.mean).toBe(2.5e9)
  expect(cpuSecondsPerGigabyte(repeats)?.mean).toBeCloseTo(2 / 3, 10)
  expect(cpuSecondsPerGigabyte([{ bytes: 0, commands: 0, seconds: 1, cpuSeconds: 1 }])).toBeUndefined()
})

test('ratio combines both margins: 3 ± 3 % over 2 ± 4 % is 1.5 ± 5 %', () => {
  const found = ratio({ mean: 3, marginOfError: 0.09, count: 5 }, { mean: 2, marginOfError: 0.08, count: 5 })
  expect(found.mean).toBe(1.5)
  expect(found.marginOfError).toBeCloseTo(0.075, 10)
})
