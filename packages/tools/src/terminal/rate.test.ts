import { expect, test } from 'vitest'
import { describeLink, describeModelled, describeRate } from './rate.js'

const link = { gen: 3, width: 4, mps: 256 } as const

test('a rate is printed with its denominator: Gen3 x4 at MPS 256 carries 3.60 GB/s of payload', () => {
  expect(describeRate(3.49e9, 1e9, link)).toBe('3.49 GB/s, 97 % of the Gen3 x4 payload limit at MPS 256')
})

test('without a link there is no denominator, and none is made up', () => {
  expect(describeRate(3.49e9, 1e9, undefined)).toBe('3.49 GB/s')
  expect(describeLink(3.49e9, 1e9, undefined)).toEqual({})
})

test('what took no modelled time has no rate', () => {
  expect(describeModelled(4096, 0, undefined)).toBe('no time: this profile has no latency')
})
