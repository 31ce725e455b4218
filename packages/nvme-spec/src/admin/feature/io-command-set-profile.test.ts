import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { IoCommandSetProfile } from './io-command-set-profile.js'

it('I/O Command Set Profile: IOCSCI is bits 08:00, set and returned (Base 2.1 §5.1.25.1.17, Figures 410, 411)', () => {
  expect(rowsOf(IoCommandSetProfile.CDW11)).toEqual([['IOCSCI', 8, 0]])
  expect(rowsOf(IoCommandSetProfile.DW0)).toEqual([['IOCSCI', 8, 0]])
})
