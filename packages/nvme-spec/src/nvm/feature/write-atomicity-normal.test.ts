import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { WriteAtomicityNormal } from './write-atomicity-normal.js'

it('Write Atomicity Normal: DN is bit 0 (NVM 1.2 §4.1.3.3, Figure 97)', () => {
  expect(rowsOf(WriteAtomicityNormal.CDW11)).toEqual([['DN', 0, 0]])
})
