import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { ErrorRecovery } from './error-recovery.js'

it('Error Recovery: DULBE above TLER (NVM 1.2 §4.1.3.2, Figure 96)', () => {
  expect(rowsOf(ErrorRecovery.CDW11)).toEqual([
    ['TLER', 15, 0],
    ['DULBE', 16, 16],
  ])
})
