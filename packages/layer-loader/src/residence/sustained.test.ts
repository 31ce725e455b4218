import { expect, test } from 'vitest'
import { sustainedPass } from './sustained.js'

/** One GB of heat until twice as slow, until half of that is gone; 0.1 GB/s go. */
const throttle = { factor: 2, limitBytes: 1e9, recoveredBytes: 0.5e9, coolingBytesPerSecond: 0.1e9 }

test('a drive that is left as much time as it needs to cool goes on for ever', () => {
  expect(sustainedPass(throttle, { readBytes: 0.1e9, driveNs: 0.2e9, otherNs: 1e9 })).toBeUndefined()
  expect(sustainedPass(throttle, { readBytes: 0, driveNs: 0, otherNs: 1e9 })).toBeUndefined()
})

test('one that gets no cooler while it is slow stays slow', () => {
  // 1 GB a second, of which 0.1 go; 0.5 GB a second when hot.
  expect(sustainedPass(throttle, { readBytes: 1e9, driveNs: 1e9, otherNs: 0 })).toEqual({
    afterNs: 1e9 / 0.9,
    passNs: 2e9,
  })
})

test('one that recovers while it is slow goes to and fro', () => {
  // 0.15 GB/s when cool: +0.05; 0.075 GB/s when hot: -0.025. Half a GB takes 10 s there and 20 s back.
  const { afterNs, passNs } = sustainedPass(throttle, { readBytes: 0.15e9, driveNs: 1e9, otherNs: 0 })!
  expect(afterNs).toBeCloseTo(20e9, 0)
  // In these 30 s, 10 passes of 1 s and 10 of 2 s.
  expect(passNs).toBeCloseTo(1.5e9, 0)
})
