import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { ReadRecoveryLevelConfig } from './read-recovery-level.js'

it('Read Recovery Level Config: NVMSETID, then RRL, which Dword 0 returns (Base 2.1 §5.1.25.1.11)', () => {
  // Figures 400 and 401.
  expect(rowsOf(ReadRecoveryLevelConfig.CDW11)).toEqual([['NVMSETID', 15, 0]])
  expect(rowsOf(ReadRecoveryLevelConfig.CDW12)).toEqual([['RRL', 3, 0]])
  expect(rowsOf(ReadRecoveryLevelConfig.DW0)).toEqual([['RRL', 3, 0]])
})
