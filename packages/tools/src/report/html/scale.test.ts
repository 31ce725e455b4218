import { expect, test } from 'vitest'
import { fitting, linear, linearTicks, logarithmic, logTicks } from './scale.js'

test('scales map the ends of a range to the ends of the drawing', () => {
  const up = linear([0, 4], [300, 20])
  expect([up(0), up(2), up(4)]).toEqual([300, 160, 20])
  const log = logarithmic([1, 64], [0, 60])
  expect([log(1), log(8), log(64)].map(Math.round)).toEqual([0, 30, 60])
})

test('linear ticks are round numbers from 0 to at least the maximum', () => {
  expect(linearTicks(3.6, 5)).toEqual([0, 1, 2, 3, 4])
  expect(linearTicks(100, 5)).toEqual([0, 20, 40, 60, 80, 100])
  expect(linearTicks(1e22, 5).at(-1)).toBeGreaterThanOrEqual(1e22)
})

test('logarithmic ticks are at 1, 2 and 5 below two decades, and at powers of ten above', () => {
  expect(logTicks(73_000, 400_000)).toEqual({ from: 50_000, to: 500_000, ticks: [50_000, 100_000, 200_000, 500_000] })
  expect(logTicks(900, 3e8).ticks).toEqual([1e3, 1e4, 1e5, 1e6, 1e7, 1e8])
  const { from, to } = logTicks(1000, 1000)
  expect(from).toBeLessThan(to)
})

test('labels that would touch are omitted', () => {
  const labels = [0, 10, 20, 30].map((at) => ({ at, text: '123' }))
  expect(fitting(labels, 4).map(({ at }) => at)).toEqual([0, 20])
})
