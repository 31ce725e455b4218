import { expect, it } from 'vitest'
import { rowsOf } from '../../../test/figures.js'
import { LbaStatusInformationAttributes } from './lba-status-information.js'

it('LBA Status Information Attributes: LSIPI above LSIRI (NVM 1.2 §4.1.3.5, Figure 99)', () => {
  expect(rowsOf(LbaStatusInformationAttributes.CDW11)).toEqual([
    ['LSIRI', 15, 0],
    ['LSIPI', 31, 16],
  ])
})
