import { describe, expect, test } from 'vitest'
import { median, outliers } from './outliers.js'

describe('the modified z-score of Iglewicz and Hoaglin', () => {
  test('marks two outliers among ten values with their scores', () => {
    // Median 2.45, median absolute deviation 0.15: 0.6745 * 5.75 / 0.15 = 25.86, 0.6745 * 5.85 / 0.15 = 26.31.
    const marks = outliers([2.1, 2.6, 2.4, 2.5, 2.3, 2.1, 2.3, 2.6, 8.2, 8.3])
    expect(marks.map((mark) => mark !== undefined)).toEqual([...new Array<boolean>(8).fill(false), true, true])
    expect(marks.slice(8)).toEqual(['modified z-score 25.9', 'modified z-score 26.3'])
  })

  test('uses the mean deviation if most values are equal', () => {
    // Median 100, deviations 0 0 0 0 0 0 0 0 0 50: mean 5, 0.797885 * 50 / 5 = 7.98.
    const marks = outliers([100, 100, 100, 100, 100, 100, 100, 100, 100, 50])
    expect(marks.at(-1)).toBe('modified z-score 8.0')
    expect(marks.slice(0, -1).every((mark) => mark === undefined)).toBe(true)
  })

  test('the modified z-score does not mark values within 1 % of the median', () => {
    expect(outliers([100, 100.001, 99.999, 100.002, 100.9])).toEqual(new Array(5).fill(undefined))
  })

  test('the modified z-score does not mark any of three values, or equal values', () => {
    expect(outliers([1, 1, 100])).toEqual([undefined, undefined, undefined])
    expect(outliers([7, 7, 7, 7, 7])).toEqual(new Array(5).fill(undefined))
  })
})

test('the median is the middle value, or the mean of the two in the middle', () => {
  expect(median([9, 1, 5])).toBe(5)
  expect(median([4, 1, 3, 2])).toBe(2.5)
  expect(() => median([])).toThrow(RangeError)
})
