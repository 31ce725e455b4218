import { expect, test } from 'vitest'
import { isLost } from './is-lost.js'

test.each([
  [0x0000_0001, false, 'ready'],
  [0x0000_0005, false, 'ready, and shutting down'],
  [0x0000_0000, true, 'not ready'],
  [0x0000_0003, true, 'ready, with CFS'],
  [0x0000_0002, true, 'with CFS alone'],
  [0xffff_ffff, true, 'off the bus'],
])('CSTS of %i: lost is %s, as the controller is %s', (csts, lost) => {
  expect(isLost(csts)).toBe(lost)
})
