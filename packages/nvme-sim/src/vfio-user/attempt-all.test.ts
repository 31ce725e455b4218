import { expect, it } from 'vitest'
import { attemptAll } from './attempt-all.js'

it('executes all steps in order, then throws the first error', () => {
  const taken: number[] = []
  const step = (number: number, fails = false) => {
    return () => {
      taken.push(number)
      if (fails) throw new Error(`step ${number}`)
    }
  }
  expect(() => attemptAll([step(1), step(2, true), step(3), step(4, true), step(5)])).toThrow('step 2')
  expect(taken).toEqual([1, 2, 3, 4, 5])
  attemptAll([step(6), step(7)])
  expect(taken.slice(5)).toEqual([6, 7])
})
