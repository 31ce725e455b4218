import { expect, test } from 'vitest'
import { sustainedPass } from './sustained.js'

/** Throttles at a level of 1 GB until it drops to 0.5 GB; the level decays by 0.1 GB/s. */
const throttle = { limitBytes: 1e9, recoveredBytes: 0.5e9, coolingBytesPerSecond: 0.1e9 }

test('a drive that cools as fast as it heats up never throttles', () => {
  expect(sustainedPass(throttle, { readBytes: 0.1e9, coolNs: 1e9, hotNs: 1e9 })).toBeUndefined()
  expect(sustainedPass(throttle, { readBytes: 0, coolNs: 1e9, hotNs: 1e9 })).toBeUndefined()
})

test('a throttled drive that still heats up stays slow', () => {
  // 1 GB/s minus 0.1 GB/s when cool; 0.5 GB/s when throttled.
  expect(sustainedPass(throttle, { readBytes: 1e9, coolNs: 1e9, hotNs: 2e9 })).toEqual({
    afterNs: 1e9 / 0.9,
    passNs: 2e9,
  })
})

test('a throttled drive that cools alternates between both speeds', () => {
  // +0.05 GB/s when cool, -0.025 GB/s when throttled: 0.5 GB takes 10 s up and 20 s down.
  const { afterNs, passNs } = sustainedPass(throttle, { readBytes: 0.15e9, coolNs: 1e9, hotNs: 2e9 })!
  expect(afterNs).toBeCloseTo(20e9, 0)
  // In these 30 s, 10 passes of 1 s and 10 of 2 s.
  expect(passNs).toBeCloseTo(1.5e9, 0)
})
