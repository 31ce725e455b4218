import { describe, expect, test } from 'vitest'
import { betterDirection, compareRounds, judge, medianOf, ratioOf, spreadOf } from '../scripts/bench/ratios.mjs'

const figure = (value: number, name = 'a read', unit = 'ns') => ({ name, value, unit })
const round = (ours: number, theirs: number) => ({ ours: [figure(ours)], theirs: [figure(theirs)] })

describe('medianOf', () => {
  test('is the middle value, or the mean of the middle two, in numerical order', () => {
    expect(medianOf([10, 9, 100])).toBe(10)
    expect(medianOf([4, 1, 2, 100])).toBe(3)
  })
})

describe('ratioOf', () => {
  test('is working tree / revision, and 1 for equal values, zero included', () => {
    expect(ratioOf(3, 2)).toBe(1.5)
    expect(ratioOf(0, 0)).toBe(1)
  })

  test('is NaN if only one of the two is zero or negative', () => {
    for (const [ours, theirs] of [
      [1, 0],
      [0, 1],
      [-1, 1],
    ] as const)
      expect(ratioOf(ours, theirs)).toBeNaN()
  })
})

test('a spread has a median between its extremes, and is undefined if a value is not finite', () => {
  expect(spreadOf([1.2, 0.9, 1])).toEqual({ median: 1, min: 0.9, max: 1.2 })
  expect(spreadOf([1, NaN])).toBeUndefined()
  expect(spreadOf([])).toBeUndefined()
})

test('the direction of an improvement follows the goal, then the unit', () => {
  expect(betterDirection({ unit: '×', goal: '≤ 1.3' })).toBe('lower')
  expect(betterDirection({ unit: '×', goal: '≥ 0.7' })).toBe('higher')
  expect(betterDirection({ unit: 'MiB', goal: 'flat: ≤ 16 MiB' })).toBe('lower')
  expect(betterDirection({ unit: 'thousand commands/s' })).toBe('higher')
  expect(betterDirection({ unit: 'µs' })).toBe('lower')
  expect(betterDirection({ unit: '×' })).toBeUndefined()
})

test('a ratio whose range includes 1 is judged the same; otherwise the direction decides', () => {
  expect(judge({ median: 0.9, min: 0.8, max: 1 }, 'lower')).toBe('same')
  const higher = { median: 1.1, min: 1.01, max: 1.2 }
  expect([judge(higher, 'lower'), judge(higher, 'higher'), judge(higher, undefined)]).toEqual([
    'worse',
    'better',
    'differs',
  ])
  expect(judge({ median: 0.9, min: 0.8, max: 0.99 }, 'lower')).toBe('better')
  expect(judge(undefined, 'lower')).toBe('no ratio')
})

describe('compareRounds', () => {
  test('takes the ratio within each round, so that a slowdown of the machine cancels out', () => {
    const { figures } = compareRounds([round(11, 10), round(22, 20), round(44, 40)])
    expect(figures).toEqual([
      {
        ...{ name: 'a read', unit: 'ns', ours: 22, theirs: 20 },
        ...{ ratio: { median: 1.1, min: 1.1, max: 1.1 }, verdict: 'worse' },
      },
    ])
  })

  test('pairs figures that share a name by their order', () => {
    const { figures } = compareRounds([{ ours: [figure(1), figure(9)], theirs: [figure(2), figure(3)] }])
    expect(figures.map(({ ratio }) => ratio?.median)).toEqual([0.5, 3])
  })

  test('lists the figures that only one of the two has', () => {
    const [ours, theirs] = [
      [figure(1), figure(1, 'new')],
      [figure(1), figure(1, 'old')],
    ]
    const { figures, onlyOurs, onlyTheirs } = compareRounds([{ ours, theirs }])
    expect([figures.map(({ name }) => name), onlyOurs, onlyTheirs]).toEqual([['a read'], ['new'], ['old']])
  })
})
