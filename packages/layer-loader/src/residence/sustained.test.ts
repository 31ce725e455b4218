import { expect, test } from 'vitest'
import { sustainedPass } from './sustained.js'

/** Throttles after 1 GB of heat, until half of it is gone; 0.1 GB/s decay. */
const throttle = { limitBytes: 1e9, recoveredBytes: 0.5e9, coolingBytesPerSecond: 0.1e9 }

test('a drive that cools as fast as it heats up never throttles', () => {
  expect(sustainedPass(throttle, { readBytes: 0.1e9, coolNs: 1e9, hotNs: 1e9 })).toBeUndefined()
  expect(sustainedPass(throttle, { readBytes: 0, coolNs: 1e9, hotNs: 1e9 })).toBeUndefined()
})

test('a throttled drive that still heats up stays slow', () => {
  // 1 GB a second, of which 0.1 go; 0.5 GB a second when hot.
  expect(sustainedPass(throttle, { readBytes: 1e9, coolNs: 1e9, hotNs: 2e9 })).toEqual({
    afterNs: 1e9 / 0.9,
    passNs: 2e9,
  })
})

test('a throttled drive that cools alternates between both speeds', () => {
  // 0.15 GB/s when cool: +0.05; 0.075 GB/s when hot: -0.025. Half a GB takes 10 s there and 20 s back.
  const { afterNs, passNs } = sustainedPass(throttle, { readBytes: 0.15e9, coolNs: 1e9, hotNs: 2e9 })!
  expect(afterNs).toBeCloseTo(20e9, 0)
  // In these 30 s, 10 passes of 1 s and 10 of 2 s.
  expect(passNs).toBeCloseTo(1.5e9, 0)
})
