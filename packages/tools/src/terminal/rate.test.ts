import { expect, test } from 'vitest'
import { describeLink, describeModelled, describeRate } from './rate.js'

const link = { gen: 3, width: 4, mps: 256 } as const

test('describeRate has the share of the link limit', () => {
  expect(describeRate(3.49e9, 1e9, link)).toBe('3.49 GB/s, 97 % of the Gen3 x4 payload limit at MPS 256')
})

test('describeRate has no share without a link', () => {
  expect(describeRate(3.49e9, 1e9, undefined)).toBe('3.49 GB/s')
  expect(describeLink(3.49e9, 1e9, undefined)).toEqual({})
})

test('describeModelled has no rate without modelled time', () => {
  expect(describeModelled(4096, 0, undefined)).toBe('no time: this profile has no latency')
})
