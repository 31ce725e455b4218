import { expect, test } from 'vitest'
import { formatCount, formatEstimate, formatQuantity, formatSeconds, formatShare } from './quantities.js'

test('formatQuantity has three significant digits in the largest unit that is at least 1', () => {
  expect(formatQuantity('rate', 3.4912e9)).toBe('3.49 GB/s')
  expect(formatQuantity('rate', 3.485e9)).toBe('3.49 GB/s')
  expect(formatQuantity('rate', 999.6e6)).toBe('1.00 GB/s')
  expect(formatQuantity('rate', 12)).toBe('12.0 B/s')
  expect(formatQuantity('iops', 442_312)).toBe('442 kIOPS')
  expect(formatQuantity('cpu', 0.0000038)).toBe('3.80 µs/GB')
  expect(formatQuantity('time', 183_400)).toBe('183 µs')
  expect(formatQuantity('rate', 9e24)).toBe('9.00e+12 TB/s')
})

test('formatEstimate has a margin with the decimals of the value, or more if it would be 0', () => {
  const estimate = (mean: number, marginOfError: number | undefined) => ({ mean, marginOfError, count: 5 })
  expect(formatEstimate('rate', estimate(3.4912e9, 0.0234e9))).toBe('3.49 ± 0.02 GB/s')
  expect(formatEstimate('rate', estimate(3.4721e9, 0.0047e9))).toBe('3.472 ± 0.005 GB/s')
  expect(formatEstimate('rate', estimate(3.4721e9, 1))).toBe('3.47 ± < 0.01 GB/s')
  expect(formatEstimate('rate', estimate(3.4721e9, 0))).toBe('3.47 ± 0.00 GB/s')
  expect(formatEstimate('rate', estimate(3.4721e9, undefined))).toBe('3.47 GB/s')
  expect(formatEstimate('times', estimate(1.148, 0.021))).toBe('1.15 ± 0.02')
})

test('formatEstimate uses the unit of a reference, unless the value is much smaller', () => {
  const estimate = (mean: number) => ({ mean, marginOfError: undefined, count: 1 })
  expect(formatEstimate('cpu', estimate(0.122e-3), 0.5e-3)).toBe('122 µs/GB')
  expect(formatEstimate('cpu', estimate(0.2), 1.5)).toBe('0.20 s/GB')
  expect(formatEstimate('cpu', estimate(0.002), 1.5)).toBe('2.00 ms/GB')
})

test('formatShare limits very small and very large shares', () => {
  expect([0.968, 0.003, 0.00001, 0, 1.2, 6e29].map(formatShare)).toEqual([
    '97 %',
    '0.3 %',
    'under 0.1 %',
    '0 %',
    '120 %',
    'over 999 %',
  ])
})

test('formatSeconds and formatCount use common units', () => {
  expect([0.5, 4.2, 99, 1741, 7380].map(formatSeconds)).toEqual(['0.5 s', '4.2 s', '99 s', '29 min 1 s', '2 h 3 min'])
  expect([1, 65_536, 1_048_576].map(formatCount)).toEqual(['1', '65536', '1.05e6'])
})
